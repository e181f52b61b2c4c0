package config

import (
	"fmt"
	"slices"
	"strings"
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

// APIVersion is the version of Anthropic's protocol. Empty leaves it to the adapter.
type APIVersion string

// The versions: docs.anthropic.com/en/api/versioning, read 2026-11-30.
const (
	APIVersion2023 APIVersion = "2023-06-01"
	APIVersion2026 APIVersion = "2026-10-21"
)

// Values lists the closed set.
func (APIVersion) Values() []string { return []string{string(APIVersion2023), string(APIVersion2026)} }

// Effort is how hard a model thinks. Empty leaves it to the backend.
type Effort string

// The efforts.
const (
	EffortNone   Effort = "none"
	EffortLow    Effort = "low"
	EffortMedium Effort = "medium"
	EffortHigh   Effort = "high"
)

// Values lists the closed set, the least first.
func (Effort) Values() []string { return []string{"none", "low", "medium", "high"} }

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

// Sandbox says whether commands run in a sandbox.
type Sandbox string

// The settings for the sandbox, from the freest to the strictest.
const (
	SandboxOff     Sandbox = "off"
	SandboxAuto    Sandbox = "auto"
	SandboxRequire Sandbox = "require"
)

// Values lists the closed set, the freest first.
func (Sandbox) Values() []string { return []string{"off", "auto", "require"} }

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
	// transportLong is what other programs call TransportHTTP. Merge turns it into that.
	transportLong Transport = "streamable-http"
)

// Values lists what the files may say. Merge leaves the first three.
func (Transport) Values() []string { return []string{"stdio", "http", "sse", string(transportLong)} }

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
