package cli

import (
	"strconv"
	"strings"

	"tote/internal/provider"
)

// Version 2.1.332 was seen to pass these on at their places, a line of 32 MB
// among them; it makes a picture of more than about 500 KB a JPEG of that size by
// itself (https://docs.claude.com/en/docs/claude-code/headless, read 2026-11-30).
func claudeSpec() *spec {
	return &spec{
		runner: Claude, program: "claude", blocks: true,
		install: "install it with: npm install -g @anthropic-ai/claude-code",
		login:   "start claude once and sign in with /login, or set ANTHROPIC_API_KEY",
		media: map[string]string{
			"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "application/pdf": ".pdf",
		},
		escape: verbatim,
		modes: map[Mode][]string{
			ModePlan: {"--permission-mode", "plan"}, ModeAsk: nil, ModeEdits: {"--permission-mode", "acceptEdits"},
			ModeFull: {"--permission-mode", "bypassPermissions"},
		},
		argv: func(l *launch) []string {
			args := []string{
				"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--include-partial-messages",
				"--no-session-persistence",
			}
			if l.model != "" {
				args = append(args, "--model", l.model)
			}
			switch l.effort {
			case provider.EffortLow, provider.EffortMedium, provider.EffortHigh:
				args = append(args, "--effort", l.effort.String())
			case provider.EffortDefault, provider.EffortNone:
			}
			return append(args, l.modeArgs...)
		},
		reader: func(c *collector) lineReader { return &claudeReader{collector: c} },
	}
}

// The prompt stands before the pictures: "-i" takes every argument up to the next
// flag, and swallows a "-" behind it as a picture that it cannot read
// (https://github.com/openai/codex/issues/30106, read 2026-11-30). 1,048,576
// characters are the most that version 0.171.0 takes.
func codexSpec() *spec {
	return &spec{
		runner: Codex, program: "codex",
		install:  "install it with: npm install -g @openai/codex",
		login:    "run: codex login",
		media:    map[string]string{"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"},
		maxRunes: 1 << 20,
		escape:   verbatim,
		reference: func(n int, _ string) string {
			return "[Image #" + strconv.Itoa(n) + "]"
		},
		modes: map[Mode][]string{
			ModePlan: {"--sandbox", "read-only"}, ModeAsk: {"--sandbox", "read-only"}, ModeEdits: {"--sandbox", "workspace-write"},
			ModeFull: {"--dangerously-bypass-approvals-and-sandbox"},
		},
		argv: func(l *launch) []string {
			args := []string{"exec", "--json", "--ephemeral", "--skip-git-repo-check", "-C", l.dir}
			if l.model != "" {
				args = append(args, "-m", l.model)
			}
			if l.effort != provider.EffortDefault {
				args = append(args, "-c", "model_reasoning_effort="+strconv.Quote(l.effort.String()))
			}
			args = append(append(args, l.modeArgs...), "-")
			for _, f := range l.files {
				args = append(args, "-i", f)
			}
			return args
		},
		reader: func(c *collector) lineReader { return &codexReader{collector: c} },
	}
}

// gemini cuts its standard input at 8 MiB without an error; it takes files of up
// to 20 MB (https://geminicli.com/docs/tools/file-system, read 2026-11-30).
func geminiSpec() *spec {
	return &spec{
		runner: Gemini, program: "gemini",
		install: "install it with: npm install -g @google/gemini-cli",
		login:   "start gemini once and choose how to sign in, or set GEMINI_API_KEY",
		media: map[string]string{
			"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp", "image/gif": ".gif", "image/heic": ".heic",
			"image/bmp": ".bmp", "audio/wav": ".wav", "audio/x-wav": ".wav", "audio/mpeg": ".mp3", "audio/mp3": ".mp3",
			"audio/aac": ".aac", "audio/ogg": ".ogg", "audio/flac": ".flac", "audio/aiff": ".aiff", "application/pdf": ".pdf",
		},
		maxBytes: 8 << 20,
		escape:   func(s string) string { return strings.ReplaceAll(s, "@", `\@`) },
		note:     "A backslash was put before every at sign of the text; read it without.",
		reference: func(_ int, path string) string {
			return "@" + escapePath(path)
		},
		modes: map[Mode][]string{
			ModePlan: {"--approval-mode", "plan"}, ModeAsk: {"--approval-mode", "default"}, ModeEdits: {"--approval-mode", "auto_edit"},
			ModeFull: {"--approval-mode", "yolo"},
		},
		argv: func(l *launch) []string {
			args := []string{"-o", "stream-json"}
			if l.model != "" {
				args = append(args, "-m", l.model)
			}
			if l.folder != "" {
				args = append(args, "--include-directories", l.folder)
			}
			return append(args, l.modeArgs...)
		},
		reader: func(c *collector) lineReader { return &geminiReader{collector: c} },
	}
}

func customSpec() *spec {
	return &spec{
		runner: Custom, install: "check the command of the runner", login: "sign in with the program itself", escape: verbatim,
		reference: func(n int, path string) string {
			return "[attached file " + strconv.Itoa(n) + ": " + path + "]"
		},
		argv:   expand,
		reader: func(c *collector) lineReader { return &customReader{collector: c} },
	}
}

func verbatim(s string) string { return s }

// escapePath spells a path so that gemini reads it to its end: a backslash before
// what would end it. A path of Windows, where it takes no backslash off, goes in
// quotes instead.
func escapePath(path string) string {
	const ends = " \t\r\n,;!?()[]{}\"'`$&|<>#*~@"
	if !strings.ContainsAny(path, ends+`\`) {
		return path
	}
	if strings.Contains(path, `:\`) || strings.HasPrefix(path, `\\`) {
		return `"` + path + `"`
	}
	var sb strings.Builder
	for _, r := range path {
		if strings.ContainsRune(ends+`\`, r) {
			sb.WriteByte('\\')
		}
		sb.WriteRune(r)
	}
	return sb.String()
}
