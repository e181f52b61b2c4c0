package bedrock

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"tote/internal/provider"
)

// maxName bounds names of tools and ids of calls, which are made of letters,
// digits, "_" and "-":
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html (read 2026-11-30).
const maxName = 64

func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

func valid(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	for i := range len(name) {
		if !plain(name[i]) {
			return false
		}
	}
	return true
}

// toolName makes a name that the service takes. Another name is marked with a
// hash, so that two that look alike stay two.
func toolName(name string) string {
	if valid(name) {
		return name
	}
	const mark = 8 // digits of the hash
	head := strings.Map(func(r rune) rune {
		if r < 0x80 && plain(byte(r)) {
			return r
		}
		return '_'
	}, name)
	return head[:min(len(head), maxName-mark-1)] + "_" + digest(name)[:mark]
}

func digest(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

// toolNames gives the tools' own names by those on the wire, where they differ.
func toolNames(tools []provider.ToolSpec) map[string]string {
	var out map[string]string
	for _, t := range tools {
		if w := toolName(t.Name); w != t.Name {
			if out == nil {
				out = map[string]string{}
			}
			out[w] = t.Name
		}
	}
	return out
}

// ids names calls on the wire. An id that the service takes stays; another one,
// and one that an earlier call of the conversation had, is replaced by a hash.
// What a call gets depends on nothing that stands behind it.
type ids struct {
	seen map[string]int
	open map[string][]string
}

// call names the next call with this id.
func (b *ids) call(id string) string {
	if b.seen == nil {
		b.seen, b.open = map[string]int{}, map[string][]string{}
	}
	w := id
	if n := b.seen[id]; n > 0 || !valid(id) {
		w = replaced(id, n)
	}
	b.seen[id]++
	b.open[id] = append(b.open[id], w)
	return w
}

// answer is the name of the first call with this id that has no answer yet.
func (b *ids) answer(id string) string {
	q := b.open[id]
	if len(q) == 0 {
		return replaced(id, 0) // the service refuses it, whatever its name
	}
	b.open[id] = q[1:]
	return q[0]
}

func replaced(id string, n int) string {
	return "call_" + digest(strconv.Itoa(n) + "\x00" + id)[:24]
}

// maxDocumentName is the service's, in bytes.
const maxDocumentName = 200

// documentName makes a neutral name of a handle: letters, digits, hyphens,
// brackets and single spaces, no extension. The name of the user's file stands
// in the label; here it could pass for an instruction.
func documentName(handle string) string {
	handle, _, _ = strings.Cut(handle, ".")
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && plain(byte(r)) && r != '_' || strings.ContainsRune("()[]", r) {
			return r
		}
		return '-'
	}, handle)
	if name == "" {
		return "document"
	}
	return name[:min(len(name), maxDocumentName-10)] // room for a number
}

// The formats of the wire by media type:
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ImageBlock.html,
// API_runtime_DocumentBlock.html and API_runtime_AudioBlock.html (read 2026-11-30).
var (
	imageFormats = map[string]string{
		"image/png": "png", "image/jpeg": "jpeg", "image/jpg": "jpeg", "image/gif": "gif", "image/webp": "webp",
	}
	documentFormats = map[string]string{
		"application/pdf": "pdf", "text/csv": "csv", "text/html": "html", "text/plain": "txt", "text/markdown": "md",
		"application/msword": "doc", "application/vnd.ms-excel": "xls",
		"application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
		"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":       "xlsx",
	}
	audioFormats = map[string]string{
		"audio/wav": "wav", "audio/x-wav": "wav", "audio/wave": "wav", "audio/vnd.wave": "wav",
		"audio/mpeg": "mp3", "audio/mp3": "mp3", "audio/opus": "opus", "audio/aac": "aac", "audio/x-aac": "x-aac",
		"audio/flac": "flac", "audio/x-flac": "flac", "audio/ogg": "ogg", "audio/mp4": "mp4", "audio/m4a": "m4a",
		"audio/x-m4a": "m4a", "audio/webm": "webm", "audio/x-matroska": "mka", "audio/l16": "pcm", "audio/pcm": "pcm",
	}
)

// format looks a media type up without its parameters.
func format(formats map[string]string, mime string) (string, bool) {
	mime, _, _ = strings.Cut(mime, ";")
	f, ok := formats[strings.ToLower(strings.TrimSpace(mime))]
	return f, ok
}
