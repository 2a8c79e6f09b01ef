package main

import (
	"encoding/json"
	"io"
	"time"

	"tongs-agents/fsstore"
	"tongs-agents/internal/text"
)

func (e *explanation) printJSON(w io.Writer) error {
	type because struct {
		Is  bool   `json:"is"`
		Why string `json:"why"`
	}
	type said struct {
		Answer string `json:"answer"`
		Why    string `json:"why"`
	}
	type observation struct {
		Status fsstore.Status `json:"status"`
		Detail string         `json:"detail,omitempty"`
		At     time.Time      `json:"at"`
	}
	type hidden struct {
		Why string `json:"why"`
		By  string `json:"by,omitempty"`
	}
	type cleanup struct {
		Mended   string `json:"mended,omitempty"`
		Removed  string `json:"removed,omitempty"`
		Archived bool   `json:"archived,omitempty"`
		Error    string `json:"error,omitempty"`
	}
	out := struct {
		Session   json.RawMessage `json:"session"`
		Since     int64           `json:"since"`
		Archived  bool            `json:"archived"`
		Hidden    *hidden         `json:"hidden"`
		Attention because         `json:"attention"`
		Process   said            `json:"process"`
		Evidence  *observation    `json:"evidence"`
		Resumable because         `json:"resumable"`
		Cleanup   cleanup         `json:"cleanup"`
		Text      []string        `json:"text"`
	}{
		Session: e.row.AppendJSON(nil), Since: since(&e.row.Record), Archived: e.archived,
		Attention: because{e.row.NeedsAttention, e.row.AttentionReason()},
		Process:   said{e.process.String(), e.processReason},
		Resumable: because{e.resumeObstacle == "", e.resumeObstacle},
		Cleanup:   cleanup{Mended: e.mended, Removed: e.removed, Archived: e.archives},
		Text:      e.sentences(),
	}
	if e.hidden != nil {
		out.Hidden = &hidden{Why: e.hidden.Why}
		if by := e.hidden.By; by != nil {
			out.Hidden.By = by.CanonicalID()
		}
	}
	if o := e.observed; o != nil {
		out.Evidence = &observation{o.Status, o.Detail, o.At.UTC()}
	}
	if e.cleanupErr != nil {
		out.Cleanup.Error = text.Clean(e.cleanupErr.Error())
	}
	return printJSON(w, out)
}
