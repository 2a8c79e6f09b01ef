package listing

import (
	"reflect"
	"testing"

	"tongs-agents/fsstore"
)

func TestCount(t *testing.T) {
	rows := readStore(t, makeStore(t,
		record("codex", "a", fsstore.Running, 1),
		record("codex", "b", fsstore.Waiting, 1),
		record("claude", "c", fsstore.Started, 1),
		record("claude", "d", fsstore.Discovered, 1),
		record("claude", "e", fsstore.Idle, 1),
		record("other", "f", fsstore.Error, 1),
	)).Rows
	got := Count(rows)
	want := Stats{
		Agents: []AgentCounts{
			{"claude", Counts{Idle: 2, Done: 1, Total: 3}},
			{"codex", Counts{Running: 1, Waiting: 1, Total: 2}},
			{"other", Counts{Error: 1, Total: 1}},
		},
		Total: Counts{Running: 1, Waiting: 1, Idle: 2, Done: 1, Error: 1, Total: 6},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Count = %+v, want %+v", got, want)
	}
	if got := Count(nil); got.Agents == nil || got.Total != (Counts{}) {
		t.Errorf("Count of nothing = %+v", got)
	}
}
