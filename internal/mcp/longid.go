package mcp

import (
	"bytes"
	"regexp"
	"sync"
)

// idAtStart finds the id of a message whose end is missing, "" for none. Only
// members that are whole count, so a number or a word at the very end does not.
func idAtStart(head []byte) string {
	id := ""
	members(bytes.TrimRight(head, "0123456789+-.eEtruefalsn"), func(key string, v []byte) bool {
		if key == "id" {
			id = string(v)
		}
		return id == ""
	})
	return id
}

var idLast = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"id"\s*:\s*(-?[0-9]+|"[^"\\]*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)
})

// idAtEnd finds the id of a message whose start is missing, "" for none. A wrong
// one, made by what a server writes into its own answer, costs a call of that
// server.
func idAtEnd(tail []byte) string {
	if m := idLast().FindSubmatch(tail); m != nil {
		return string(m[1])
	}
	return ""
}
