umask 077
cd "$1/sessions" || exit
exec 8<>"$2" 9<>"$3"
flock 8 && flock 9 || exit
temp=.fleet-tmp-$$-$SRANDOM-1.tmp
jq -c --slurpfile stored "$4" '$stored[0] + {
  status: "running",
  detail: "processing prompt",
  cwd,
  ts: (now | floor),
  arrival_sequence: ($stored[0].arrival_sequence + 1)
}' >"$temp" && mv "$temp" "$4"
exit # or bash would become mv
