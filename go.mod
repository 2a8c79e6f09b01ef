module tongs-agents

go 1.26.0

require (
	github.com/prometheus/procfs v0.23.0
	github.com/tklauser/go-sysconf v0.4.0
	golang.org/x/sys v0.50.0
	golang.org/x/tools v0.52.0
)

require github.com/tklauser/numcpus v0.12.0 // indirect
