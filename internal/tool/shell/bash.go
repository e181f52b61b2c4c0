package shell

import (
	"context"
	_ "embed" // for the description of the tool
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tote/internal/content"
	"tote/internal/permission"
	"tote/internal/tool"
)

//go:embed bash.md
var bashText string

const (
	defaultTimeout = 2 * time.Minute
	maxTimeout     = 10 * time.Minute
	// maxTitle is how much of a command stands in for a description, in runes.
	maxTitle = 80
)

// Bash is the tool that runs commands. Make it with Shells.Tools.
type Bash struct{ s *Shells }

var _ tool.Previewer = Bash{}

type bashArgs struct {
	Command     string `json:"command"`
	TimeoutMS   int64  `json:"timeout_ms"`
	Background  bool   `json:"background"`
	Description string `json:"description"`
	Cwd         string `json:"cwd"`
}

// Spec implements tool.Tool.
func (b Bash) Spec() tool.Spec {
	usual, most := strconv.FormatInt(b.s.o.Timeout.Milliseconds(), 10), strconv.FormatInt(b.s.o.MaxTimeout.Milliseconds(), 10)
	return tool.Spec{
		Name: "bash", Description: strings.TrimSpace(bashText),
		Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string","description":"The command line to run."},` +
			`"timeout_ms":{"type":"integer","minimum":1,"maximum":` + most + `,"description":"Time limit in milliseconds; ` + usual + ` without it."},` +
			`"background":{"type":"boolean","description":"Return at once and let the command run on."},` +
			`"description":{"type":"string","description":"What the command is for, in a few words."},` +
			`"cwd":{"type":"string","description":"Folder for this call alone."}},"required":["command"],"additionalProperties":false}`),
	}
}

func (b Bash) args(raw json.RawMessage, env tool.Env) (bashArgs, error) {
	var a bashArgs
	if err := tool.Decode(raw, &a); err != nil {
		return a, err
	}
	switch {
	case strings.TrimSpace(a.Command) == "":
		return a, errors.New("bash: the argument \"command\" is missing")
	case strings.Contains(a.Command, "\x00"):
		return a, errors.New("bash: the command holds a NUL byte, which no shell takes; write \\0 with printf")
	case len(a.Command) > maxScript/2:
		return a, fmt.Errorf("bash: %w", errTooLong)
	case a.TimeoutMS < 0 || a.TimeoutMS > b.s.o.MaxTimeout.Milliseconds():
		return a, fmt.Errorf("bash: timeout_ms is %d, want 1 to %d; use background for what takes longer", a.TimeoutMS, b.s.o.MaxTimeout.Milliseconds())
	case a.Cwd == "":
		return a, nil
	}
	p := tool.Locate(a.Cwd, env)
	if p.Root == "" || tool.IsForbidden(p.Abs, env) {
		return a, fmt.Errorf("bash: cwd %s: %w; use cd in the command", a.Cwd, tool.ErrOutside)
	}
	a.Cwd = p.Abs
	return a, nil
}

// Request implements tool.Tool. A line of PowerShell is not taken apart, so no rule
// with a pattern allows it.
func (b Bash) Request(raw json.RawMessage, env tool.Env) (permission.Request, string, error) {
	a, err := b.args(raw, env)
	if err != nil {
		return permission.Request{}, "", err
	}
	r := permission.Request{Tool: "bash", Action: permission.Execute, Detail: a.Command}
	st := b.s.state(env)
	if a.Cwd != "" {
		st.cwd = a.Cwd
	}
	p, ok := parts{opaque: true}, false
	if _, in, err := b.s.session(env.Session); err != nil {
		return permission.Request{}, "", fmt.Errorf("bash: %w", err)
	} else if in.kind != kindPwsh {
		p, ok = split(a.Command, st.cwd, b.s.home, env)
	}
	r.Opaque, r.Paths = p.opaque, p.paths
	if ok {
		r.Commands = st.around(p.commands, env)
	}
	return r, title(a), nil
}

// around are the commands of a line as if what lasts from earlier calls stood in it: a
// folder outside of the roots that was entered, and variables in front of each. So what
// such a line may not do without a question, none may that has it from an earlier call.
// Values are not told: they may be keys.
func (st state) around(commands []string, env tool.Env) []string {
	var front strings.Builder
	for _, name := range st.kept() {
		front.WriteString(name + "=kept ")
	}
	out := make([]string, 0, len(commands)+1)
	if tool.Locate(st.cwd, env).Root == "" {
		out = append(out, "cd "+asWord(filepath.ToSlash(st.cwd)))
	}
	for _, c := range commands {
		if !strings.HasPrefix(c, "> ") {
			c = front.String() + c
		}
		out = append(out, c)
	}
	return out
}

// Preview is the whole command, for people who are asked about it.
func (b Bash) Preview(raw json.RawMessage, env tool.Env) string {
	a, err := b.args(raw, env)
	if err != nil {
		return ""
	}
	if a.Cwd != "" {
		return "in " + a.Cwd + ":\n" + a.Command
	}
	return a.Command
}

// title is the description, or the first line of the command.
func title(a bashArgs) string {
	s := strings.TrimSpace(a.Description)
	if s == "" {
		s = strings.TrimSpace(a.Command)
	}
	s, _, more := strings.Cut(s, "\n")
	if r := []rune(s); len(r) > maxTitle {
		s, more = string(r[:maxTitle]), true
	}
	if more {
		s = strings.TrimSpace(s) + " ..."
	}
	return s
}

// Run implements tool.Tool.
func (b Bash) Run(ctx context.Context, raw json.RawMessage, env tool.Env) (tool.Result, error) {
	a, err := b.args(raw, env)
	if err != nil {
		return tool.Result{}, err
	}
	ses, in, err := b.s.session(env.Session)
	if err != nil {
		return tool.Result{}, fmt.Errorf("bash: %w", err)
	}
	select {
	case ses.turn <- struct{}{}:
	case <-ctx.Done():
		return tool.Result{}, ctx.Err()
	case <-ses.gone:
		return tool.Result{}, fmt.Errorf("bash: %w", errClosed)
	}
	defer func() { <-ses.turn }()
	c := &call{s: b.s, ses: ses, in: in, args: a, env: env, id: ses.next()}
	text, bad, err := c.run(ctx)
	if err != nil {
		return tool.Result{}, fmt.Errorf("bash: %w", err)
	}
	return tool.Result{Sources: []content.Source{tool.Prose(text)}, IsError: bad}, nil
}

// call is one call of bash.
type call struct {
	s     *Shells
	ses   *session
	in    interpreter
	args  bashArgs
	env   tool.Env
	id    string
	dir   string // private
	tmp   string // for temporary files of locked-in commands, "" for none
	notes []string
}

func (c *call) run(ctx context.Context) (text string, bad bool, err error) {
	if err := ctx.Err(); err != nil {
		return "", false, err
	}
	if c.args.Background {
		if err := c.ses.room(); err != nil {
			return "", false, err
		}
	}
	if c.dir, err = c.s.folder(); err != nil {
		return "", false, fmt.Errorf("make a folder for the call: %w", err)
	}
	if c.args.Background {
		return c.background() // its folder stays as long as the shells do: it reads it
	}
	defer func() { err = errors.Join(err, os.RemoveAll(c.dir)) }()
	p, before, err := c.start()
	if err != nil {
		return "", false, err
	}
	limit := c.s.o.Timeout
	if c.args.TimeoutMS > 0 {
		limit = time.Duration(c.args.TimeoutMS) * time.Millisecond
	}
	w := p.await(ctx, c.ses.gone, limit)
	c.carry(before)
	return c.result(p, w, limit), w != byItself || !p.state.Success(), nil
}

// start starts the command with what the last one left.
func (c *call) start() (*process, state, error) {
	if c.s.locks() {
		c.tmp = filepath.Join(c.s.outputs(c.env), "tmp")
		if err := os.MkdirAll(c.tmp, 0o700); err != nil {
			return nil, state{}, fmt.Errorf("make a folder for temporary files: %w", plain(err))
		}
	}
	before := c.before()
	st := before
	if c.args.Cwd != "" {
		st.cwd = c.args.Cwd
	}
	var hidden []string
	if c.s.o.Hide != nil {
		hidden = c.s.o.Hide()
	}
	st = st.without(hidden)
	args, err := c.in.argv(c.dir, c.args.Command, st)
	if err != nil {
		return nil, before, err
	}
	argv, notice, err := c.s.locked(append([]string{c.in.path}, args...), c.dir, c.tmp, c.env)
	if err != nil {
		return nil, before, err
	}
	c.tell(notice)
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // its whole group is stopped, and not at once
	cmd.Dir = st.cwd
	cmd.Env, _ = c.in.startEnv(hide(c.s.env, hidden))
	out := newOutput(c.s.outputs(c.env), c.id, c.s.o.Now, c.live())
	p, err := begin(cmd, out, c.s.grace, c.s.o.Now)
	if err != nil {
		return nil, before, fmt.Errorf("start %s: %w", c.in.path, plain(err))
	}
	return p, before, nil
}

func (c *call) live() func(string) {
	if c.args.Background {
		return nil
	}
	return c.env.Live
}

// before is the state in which the command begins.
func (c *call) before() state {
	c.ses.mu.Lock()
	defer c.ses.mu.Unlock()
	if !c.ses.started {
		c.ses.started = true
		_, vars := c.in.startEnv(c.s.env)
		if c.tmp != "" {
			vars["TMPDIR"] = c.tmp
		}
		c.ses.state = state{base: vars, cwd: c.env.Cwd}
	}
	if info, err := os.Stat(c.ses.state.cwd); err != nil || !info.IsDir() {
		c.notes = append(c.notes, fmt.Sprintf("[the folder %s is gone; the command ran in %s]", c.ses.state.cwd, c.env.Cwd))
		c.ses.state.cwd = c.env.Cwd
	}
	return c.ses.state
}

// tell notes what is said once in a session.
func (c *call) tell(notice string) {
	c.ses.mu.Lock()
	defer c.ses.mu.Unlock()
	if notice != "" && !c.ses.told {
		c.ses.told = true
		c.notes = append(c.notes, notice)
	}
}

// carry takes over the state that the shell left.
func (c *call) carry(before state) {
	st, lost, ok := c.in.kept(c.dir, before)
	if !ok {
		c.notes = append(c.notes, "[the shell did not leave its folder and variables: they are as they were before this call]")
		return
	}
	if len(lost) > 0 {
		c.notes = append(c.notes, "[for this call alone: "+clipped(lost)+"; set it again in the call that needs it]")
	}
	if c.args.Cwd != "" {
		st.cwd = before.cwd
	}
	c.ses.mu.Lock()
	defer c.ses.mu.Unlock()
	c.ses.state = st
	if st.cwd != before.cwd {
		c.notes = append(c.notes, "[the folder is now "+st.cwd+"]")
	}
}

// clipped lists a few names.
func clipped(names []string) string {
	const most = 8
	if len(names) > most {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("and %d more", len(names)-most))
	}
	return strings.Join(names, ", ")
}

// result is what the model is told.
func (c *call) result(p *process, w why, limit time.Duration) string {
	var rest string
	left := false // something of the call still runs
	if w == byItself {
		if names := p.settle(); len(names) > 0 {
			path := p.out.keep()
			if c.ses.add(c.id, p) {
				rest, left = leftover(names, c.id), true
				if path != "" {
					rest += "\n[what it prints goes to " + path + "]"
				}
			} else {
				p.stop()
			}
		}
	}
	p.out.finish()
	var sb strings.Builder
	if left {
		sb.WriteString(p.out.news())
	} else {
		sb.WriteString(p.out.whole())
		_ = p.out.close() // what is missing in it was told with its path
	}
	if sb.Len() == 0 {
		sb.WriteString("[no output]\n")
	}
	sb.WriteString(p.verdict(w, limit) + "\n")
	if rest != "" {
		sb.WriteString(rest + "\n")
	}
	for _, n := range c.notes {
		sb.WriteString(n + "\n")
	}
	return sb.String()
}

// background leaves the command running and tells its id.
func (c *call) background() (text string, bad bool, err error) {
	p, _, err := c.start()
	if err != nil {
		return "", false, errors.Join(err, os.RemoveAll(c.dir))
	}
	if !c.ses.add(c.id, p) {
		p.stop()
		return "", false, errClosed
	}
	text = fmt.Sprintf("[running in the background as %s; bash_output reads it, bash_kill stops it]\n", c.id)
	for _, n := range c.notes {
		text += n + "\n"
	}
	return text, false, nil
}
