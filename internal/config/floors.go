package config

import (
	"fmt"
	"time"
)

// floor is the least that a project which is not trusted may set. Such a project may
// narrow, and must not keep anybody from working.
type floor struct {
	least int64
	words string // as the files spell it
}

// floors are the least values by the path of the member. A test holds them against the
// members that such a project may lower.
func floors() map[string]floor {
	count := func(n int64) floor { return floor{n, fmt.Sprint(n)} }
	size := func(n int64, words string) floor { return floor{n, words} }
	span := func(d time.Duration, words string) floor { return floor{int64(d), words} }
	return map[string]floor{
		"limits.max_sends":         count(2), // one to learn what a backend refuses, one without it
		"limits.max_steps":         count(10),
		"limits.attachment_bytes":  size(1<<20, "1MiB"),
		"limits.inline_text_bytes": size(4<<10, "4KiB"),
		"limits.history_bytes":     size(1<<20, "1MiB"),
		"limits.picture_bytes":     size(256<<10, "256KiB"),
		"limits.request_bytes":     size(2<<20, "2MiB"),
		"limits.turn_timeout":      span(time.Minute, "1m"),
		"limits.tool_output_bytes": size(4<<10, "4KiB"),
		"limits.task_depth":        count(1),
		"limits.jobs":              count(1),
		"tools.bash.timeout":       span(10*time.Second, "10s"),
		"tools.bash.max_timeout":   span(30*time.Second, "30s"),
	}
}

// tooLow tells that a value which would narrow lies below its floor, "" where it does
// not.
func tooLow(val *node, value int64, path string) string {
	f, ok := floors()[path]
	if !ok || value >= f.least {
		return ""
	}
	return fmt.Sprintf("%s %s (%s:%d:%d: less than %s, which is the least that a project may set without your trust)",
		path, clean(string(val.standard())), val.at.file, val.at.line, val.at.col, f.words)
}
