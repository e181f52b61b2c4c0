package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// choice is a string type with a closed set of values.
type choice interface{ Values() []string }

// Kind is the protocol of a provider.
type Kind string

// The kinds of provider.
const (
	KindOpenAIChat      Kind = "openai-chat"
	KindOpenAIResponses Kind = "openai-responses"
	KindAnthropic       Kind = "anthropic"
	KindBedrockConverse Kind = "bedrock-converse"
	KindGemini          Kind = "gemini"
	KindOllama          Kind = "ollama"
	KindOffline         Kind = "offline"
)

// Values lists the closed set.
func (Kind) Values() []string {
	return []string{
		string(KindOpenAIChat), string(KindOpenAIResponses), string(KindAnthropic),
		string(KindBedrockConverse), string(KindGemini), string(KindOllama), string(KindOffline),
	}
}

// Runner names a command-line agent. Empty means that the agent has a provider.
type Runner string

// The runners.
const (
	RunnerClaude Runner = "claude"
	RunnerCodex  Runner = "codex"
	RunnerGemini Runner = "gemini"
	RunnerCustom Runner = "custom"
)

// Values lists the closed set.
func (Runner) Values() []string {
	return []string{string(RunnerClaude), string(RunnerCodex), string(RunnerGemini), string(RunnerCustom)}
}

// Probe says when an unknown model is asked with a generated picture.
type Probe string

// The probe settings, from the most to the least active.
const (
	ProbeAuto  Probe = "auto"
	ProbeAsk   Probe = "ask"
	ProbeNever Probe = "never"
)

// Values lists the closed set.
func (Probe) Values() []string { return []string{"auto", "ask", "never"} }

// Mode is the general permission policy.
type Mode string

// The modes, from the strictest to the freest.
const (
	ModePlan  Mode = "plan"
	ModeAsk   Mode = "ask"
	ModeEdits Mode = "edits"
	ModeFull  Mode = "full"
)

// Values lists the closed set, the strictest first.
func (Mode) Values() []string { return []string{"plan", "ask", "edits", "full"} }

// ParseMode reads a mode as a flag spells it.
func ParseMode(s string) (Mode, error) {
	if slices.Contains(Mode("").Values(), s) {
		return Mode(s), nil
	}
	return "", usage("mode %q is not one of %s", clean(s), strings.Join(Mode("").Values(), ", "))
}

// Echo says whether the user's blocks are sent back to an editor.
type Echo string

// The echo settings.
const (
	EchoAuto Echo = "auto"
	EchoOn   Echo = "on"
	EchoOff  Echo = "off"
)

// Values lists the closed set.
func (Echo) Values() []string { return []string{"auto", "on", "off"} }

// UnknownBlocks says what becomes of unknown block kinds.
type UnknownBlocks string

// The settings for unknown block kinds.
const (
	UnknownDegrade UnknownBlocks = "degrade"
	UnknownReject  UnknownBlocks = "reject"
)

// Values lists the closed set.
func (UnknownBlocks) Values() []string { return []string{"degrade", "reject"} }

// Transport is how an MCP server is reached.
type Transport string

// The transports.
const (
	TransportStdio Transport = "stdio"
	TransportHTTP  Transport = "http"
	TransportSSE   Transport = "sse"
)

// Values lists the closed set.
func (Transport) Values() []string { return []string{"stdio", "http", "sse"} }

// ImageTokens says what the offline backend reports as image tokens. Empty is
// the same as ImageTokensReport.
type ImageTokens string

// The settings for reported image tokens.
const (
	ImageTokensReport ImageTokens = "report"
	ImageTokensZero   ImageTokens = "zero"
	ImageTokensNone   ImageTokens = "none"
)

// Values lists the closed set.
func (ImageTokens) Values() []string { return []string{"report", "zero", "none"} }

// Vision is what the user says about a model's sight. The zero value is VisionAuto.
type Vision int

// The values of Vision.
const (
	VisionAuto Vision = iota // decided by evidence
	VisionYes                // the user says that the model sees pictures
	VisionNo                 // the user says that it does not
)

// String returns the value as the configuration spells it.
func (v Vision) String() string {
	switch v {
	case VisionYes:
		return "true"
	case VisionNo:
		return "false"
	case VisionAuto:
		return "auto"
	}
	return "auto"
}

// MarshalJSON writes "auto", true or false.
func (v Vision) MarshalJSON() ([]byte, error) {
	if v == VisionAuto {
		return []byte(`"auto"`), nil
	}
	return []byte(v.String()), nil
}

func decodeVision(n *node) (Vision, error) {
	switch string(n.raw) {
	case "true":
		return VisionYes, nil
	case "false":
		return VisionNo, nil
	case `"auto"`:
		return VisionAuto, nil
	}
	return VisionAuto, fmt.Errorf(`is %s; want "auto", true or false`, n.kindName())
}

// Bytes is a size. The files spell it as a number of bytes or as a string with a
// unit: "30 MB", "64KiB".
type Bytes int64

func decodeBytes(n *node) (Bytes, error) {
	const want = `want a number of bytes or a string such as "30MB" or "64KiB"`
	switch n.kind {
	case kindNumber:
		i, err := strconv.ParseInt(string(n.raw), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("is not a whole number of bytes below 2^63; %s", want)
		}
		return Bytes(i), nil
	case kindString:
		size, ok := parseSize(n.str())
		if !ok {
			return 0, fmt.Errorf("is not a size; %s", want)
		}
		return size, nil
	case kindNull, kindBool, kindObject, kindArray:
	}
	return 0, fmt.Errorf("is %s; %s", n.kindName(), want)
}

// parseSize reads a whole number with an optional unit.
func parseSize(s string) (Bytes, bool) {
	digits := strings.TrimSpace(s)
	unit := strings.TrimLeft(digits, "0123456789")
	digits = digits[:len(digits)-len(unit)]
	factor, ok := map[string]int64{
		"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
	}[strings.ToLower(strings.TrimSpace(unit))]
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > math.MaxInt64/factor {
		return 0, false
	}
	return Bytes(n * factor), true
}

// Duration is a span of time, spelled "90s" or "1h30m" in the files.
type Duration time.Duration

// String returns the duration as the files spell it.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes the duration as the files spell it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func decodeDuration(n *node) (Duration, error) {
	const want = `want a string such as "90s" or "1h30m"`
	if n.kind != kindString {
		return 0, fmt.Errorf("is %s; %s", n.kindName(), want)
	}
	v, err := time.ParseDuration(n.str())
	if err != nil {
		return 0, fmt.Errorf("is not a duration; %s", want)
	}
	return Duration(v), nil
}

// refusalStatus is the status of a refusal that names none.
const refusalStatus = 400

// decodeRefusal reads the short spellings. An object is read by its members.
func decodeRefusal(n *node) (Refusal, error) {
	switch n.kind {
	case kindBool:
		if n.isTrue() {
			return Refusal{Status: refusalStatus}, nil
		}
		return Refusal{}, nil
	case kindString:
		return Refusal{Status: refusalStatus, Message: n.str()}, nil
	case kindNull, kindNumber, kindArray, kindObject:
	}
	return Refusal{}, fmt.Errorf("is %s; want true, false, a string or an object", n.kindName())
}
