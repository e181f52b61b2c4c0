package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// versionTimeout bounds the question for a version.
const versionTimeout = 10 * time.Second

// maxVersion is how much of the answer is read, in bytes.
const maxVersion = 16 << 10

// floor is the oldest version that is known to carry pictures, and why.
type floor struct{ version, why string }

// floors are by runner; what is not there has none.
var floors = map[string]floor{
	// 2.1.59 lost base64 pictures without a word, 2.1.240 was seen to carry them:
	// https://github.com/ebibibi/ebi-agent-chat-relay/pull/181 (read 2026-11-30).
	Claude: {"2.1.240", "older versions lose pictures without a word"},
	// "exec --image" could hang until a fix of 2025-10-28; 0.63.0 is the first
	// version that is known to be younger:
	// https://github.com/openai/codex/pull/5891 (read 2026-11-30).
	Codex: {"0.63.0", "older versions can hang on pictures"},
}

// Trusts reports whether pictures given to a version of a runner's program reach
// the model, as far as is known. Why is for people where they do not. It is "no"
// for a version that is not known where there is a floor.
func Trusts(runner, version string) (ok bool, why string) {
	f, has := floors[runner]
	if !has {
		return true, ""
	}
	v, known := parseVersion(version)
	least, _ := parseVersion(f.version) // the table's own
	switch {
	case !known:
		return false, "the version of " + runner + " is not known, and before " + f.version + " " + f.why
	case less(v, least):
		return false, fmt.Sprintf("%s %d.%d.%d is older than %s: %s; update it", runner, v[0], v[1], v[2], f.version, f.why)
	}
	return true, ""
}

var versionWords = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(\d{1,6})\.(\d{1,6})\.(\d{1,6})\b`) })

// parseVersion finds the first version in words.
func parseVersion(words string) (v [3]int, ok bool) {
	m := versionWords().FindStringSubmatch(words)
	if m == nil {
		return v, false
	}
	for i := range v {
		v[i], _ = strconv.Atoi(m[i+1]) // at most six digits
	}
	return v, true
}

func less(a, b [3]int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// Version asks the program for its version, once. It is "" for custom, of which
// nothing is known.
func (r *Runner) Version(ctx context.Context) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.version != "" || r.spec.runner == Custom {
		return r.version, nil
	}
	program, err := r.find(ctx)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	p, err := start(ctx, program, append(r.prefix(), "--version"), r.o.Dir, r.o.Env, r.o.Grace, io.NopCloser(strings.NewReader("")))
	if err != nil {
		return "", r.startError(err)
	}
	defer p.stop()
	out, err := io.ReadAll(io.LimitReader(p, maxVersion))
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", r.spec.runner, err)
	}
	v, ok := parseVersion(string(out))
	if !ok {
		return "", fmt.Errorf("ask %s for its version: %w", r.spec.runner, errors.New("its answer holds none"))
	}
	r.version = fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2])
	return r.version, nil
}

// Info is what is known of a runner's program.
type Info struct {
	Runner, Path string
	// Version is "" where it is not known.
	Version string
	// Trusted: pictures may be given to it. Why says why not.
	Trusted bool
	Why     string
}

// Describe asks the program for its version and says what follows. The error is
// that of the question; the rest holds all the same.
func (r *Runner) Describe(ctx context.Context) (Info, error) {
	v, err := r.Version(ctx)
	i := Info{Runner: r.spec.runner, Path: Path(r.spec.runner), Version: v}
	i.Trusted, i.Why = Trusts(r.spec.runner, v)
	return i, err
}
