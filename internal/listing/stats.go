package listing

import (
	"tongs-agents/fsstore"
	"tongs-agents/internal/harness"
)

// Counts are numbers of sessions, by what they do.
type Counts struct {
	Running int `json:"running"`
	Waiting int `json:"waiting"`
	Idle    int `json:"idle"` // nothing was asked of them yet: started or discovered
	Done    int `json:"done"` // idle
	Error   int `json:"error"`
	Total   int `json:"total"`
}

// AgentCounts are those of one agent.
type AgentCounts struct {
	Harness string `json:"harness_id"`
	Counts
}

// Stats are the counts of each agent that has sessions, and those of all.
type Stats struct {
	Agents []AgentCounts `json:"agents"`
	Total  Counts        `json:"total"`
}

// Count counts rows of sessions that have not ended.
func Count(rows []*fsstore.Annotated) Stats {
	byAgent := make(map[string]*Counts)
	stats := Stats{Agents: []AgentCounts{}}
	for _, r := range rows {
		if byAgent[r.Harness] == nil {
			byAgent[r.Harness] = new(Counts)
		}
		byAgent[r.Harness].add(r.Status)
		stats.Total.add(r.Status)
	}
	for _, h := range harness.All() {
		if c := byAgent[h.ID]; c != nil {
			stats.Agents = append(stats.Agents, AgentCounts{h.ID, *c})
		}
	}
	return stats
}

func (c *Counts) add(s fsstore.Status) {
	switch s {
	case fsstore.Running:
		c.Running++
	case fsstore.Waiting:
		c.Waiting++
	case fsstore.Started, fsstore.Discovered:
		c.Idle++
	case fsstore.Idle:
		c.Done++
	case fsstore.Error:
		c.Error++
	}
	c.Total++
}
