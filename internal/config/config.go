package config

import "encoding/json"

// Config is the merged configuration. Its member comments are the descriptions
// in docs/config.schema.json.
type Config struct {
	// Schema is the address of the JSON Schema, for editors. It has no effect.
	Schema string `json:"$schema,omitempty"`
	// Providers are the model backends by name. The name is what stands before
	// the first slash in PROVIDER/MODEL.
	Providers map[string]Provider `json:"providers,omitempty"`
	// Agents are the named combinations of a provider and a model, or of a
	// command-line runner, that a session can run on.
	Agents map[string]Agent `json:"agents,omitempty"`
	// DefaultAgent is the agent of a new session. Without it the only configured
	// agent is taken, else the built-in one named offline.
	DefaultAgent string `json:"default_agent,omitempty"`
	// Probe says whether a model of unknown capability may be asked with a small
	// generated picture before a picture is sent to it.
	Probe Probe `json:"probe,omitempty"`
	// MCPServers are the Model Context Protocol servers by name, in the shape
	// that mcpServers entries usually have.
	MCPServers map[string]MCPServer `json:"mcp_servers,omitempty"`
	// ACP holds the settings for editors that speak the Agent Client Protocol.
	ACP ACP `json:"acp,omitzero"`
	// Limits bound what one turn may use.
	Limits Limits `json:"limits,omitzero"`
	// Permissions say what tools may do without asking.
	Permissions Permissions `json:"permissions,omitzero"`
	// Tools hold the settings of the built-in tools.
	Tools Tools `json:"tools,omitzero"`
	// Hooks are commands of yours that are run at certain moments of a turn.
	Hooks Hooks `json:"hooks,omitzero"`
	// Instructions name further files that hold rules for agents, besides AGENTS.md
	// and its cousins: paths or patterns such as docs/*.md below the root of the
	// repository, or a file of yours by an absolute path or one that begins with ~/.
	Instructions []string `json:"instructions,omitempty"`
	// AdditionalDirectories are folders that tools may work in as in the project. A
	// path may begin with ~/, and is else relative to the folder of the
	// configuration file, for .tote/config.json to the folder that holds .tote.
	AdditionalDirectories []string `json:"additional_directories,omitempty"`
	// Privacy holds the settings about what leaves the machine.
	Privacy Privacy `json:"privacy,omitzero"`
}

// Provider is one model backend.
type Provider struct {
	// Name is the key under providers.
	Name string `json:"-"`
	// Kind is the protocol that the backend speaks.
	Kind Kind `json:"kind,omitempty"`
	// BaseURL is the absolute http or https address that the protocol's own paths
	// are appended to. Without it the address of the vendor is taken.
	BaseURL string `json:"base_url,omitempty"`
	// APIKey is the key, or "$NAME" or "${NAME}" for the environment variable that
	// holds it, or "keyring:NAME" for the entry of the system's keyring, or "keyring"
	// for the entry that is called like the provider. A reference is read only when a
	// request is made.
	APIKey string `json:"api_key,omitempty"`
	// Headers are sent with each request. A value may be a "$NAME" reference.
	Headers map[string]string `json:"headers,omitempty"`
	// Region is the AWS region, such as us-east-1. It is for the kind
	// bedrock-converse, whose base_url follows from it. Left out, AWS_REGION or
	// AWS_DEFAULT_REGION decides, else the AWS profile.
	Region string `json:"region,omitempty"`
	// AWSProfile names the profile in the AWS configuration files that holds the
	// credentials. It is for the kind bedrock-converse. Left out, the AWS rules decide.
	AWSProfile string `json:"aws_profile,omitempty"`
	// APIVersion is the version of the protocol of the kind anthropic. Left out,
	// it is 2023-06-01, which all servers speak.
	APIVersion APIVersion `json:"api_version,omitempty"`
	// CAFile is the path of a file with certificates in PEM form that are trusted
	// besides the system's. It may begin with ~/, and is else relative to the
	// folder of the configuration file.
	CAFile string `json:"ca_file,omitempty"`
	// Proxy is the http, https or socks5 address of the proxy, a "$NAME" reference
	// to it, or "direct" for none. Left out, HTTPS_PROXY, HTTP_PROXY and NO_PROXY
	// in the environment decide.
	Proxy string `json:"proxy,omitempty"`
	// Timeouts bound how long the backend may be silent.
	Timeouts Timeouts `json:"timeouts,omitzero"`
	// MaxRetries is how often a request that failed on the way, or that the backend
	// was too busy for, is sent again, 0 to 10. Left out, it is 3.
	MaxRetries Retries `json:"max_retries,omitzero"`
	// Limits override what is known of this backend. A member that is left out
	// keeps what is known.
	Limits ProviderLimits `json:"limits,omitzero"`
	// Faults script the kind offline, for demonstrations and tests.
	Faults Faults `json:"faults,omitzero"`
}

// Timeouts bound the silence of a backend. Zero means not given.
type Timeouts struct {
	// Connect bounds the making of a connection. Left out, it is 20s.
	Connect Duration `json:"connect,omitempty"`
	// FirstByte bounds the wait for the answer to begin. Left out, it is 10m,
	// since models may think for minutes.
	FirstByte Duration `json:"first_byte,omitempty"`
	// Idle bounds the silence inside an answer. Left out, it is 5m.
	Idle Duration `json:"idle,omitempty"`
}

// ProviderLimits are bounds of one backend. Zero means not given.
type ProviderLimits struct {
	// Images is the greatest number of pictures in one request.
	Images int `json:"images,omitempty"`
	// ImageBytes is the greatest size of one picture before base64.
	ImageBytes Bytes `json:"image_bytes,omitempty"`
	// ImageEdge is the greatest width or height of one picture, in pixels.
	ImageEdge int `json:"image_edge,omitempty"`
	// RequestBytes is the greatest size of a request body.
	RequestBytes Bytes `json:"request_bytes,omitempty"`
	// MediaTypes are the media types that the backend takes, such as image/png.
	MediaTypes []string `json:"media_types,omitempty"`
	// ContextTokens is the size of the context window, in tokens.
	ContextTokens int `json:"context_tokens,omitempty"`
	// OutputTokens is the greatest number of tokens in an answer.
	OutputTokens int `json:"output_tokens,omitempty"`
}

// Faults make the offline backend misbehave in a chosen way. The zero value is
// a backend without faults.
type Faults struct {
	// RefuseImages answers every request that holds a picture with an error: true
	// for the usual one, a string for its wording, or an object.
	RefuseImages Refusal `json:"refuse_images,omitzero"`
	// ImageTokens says whether image tokens are reported truly, as zero, or not at all.
	ImageTokens ImageTokens `json:"image_tokens,omitempty"`
	// CutStreamAfter breaks the connection after so many bytes of the answer.
	CutStreamAfter Bytes `json:"cut_stream_after,omitempty"`
	// TooLargeOver answers a request body of more bytes with status 413.
	TooLargeOver Bytes `json:"too_large_over,omitempty"`
	// Slow is the pause before each piece of the answer.
	Slow Duration `json:"slow,omitempty"`
	// ToolCalls are the calls that the backend asks for, in order, one a request.
	ToolCalls []FaultCall `json:"tool_calls,omitempty"`
	// Status answers with an HTTP error status.
	Status FaultStatus `json:"status,omitzero"`
}

// Refusal is how the offline backend refuses pictures. A zero Status means that
// it does not.
type Refusal struct {
	// Status is the HTTP status of the refusal. It is 400 where it is left out.
	Status int `json:"status,omitempty"`
	// Message is the wording of the refusal. Empty means the backend's own.
	Message string `json:"message,omitempty"`
}

// FaultCall is one tool call that the offline backend asks for.
type FaultCall struct {
	// Name is the name of the tool.
	Name string `json:"name"`
	// Arguments are passed to the tool as they stand.
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// FaultStatus is an error answer of the offline backend.
type FaultStatus struct {
	// Code is the HTTP status, 400 to 599.
	Code int `json:"code,omitempty"`
	// Body is the body of the answer, sent as it stands.
	Body string `json:"body,omitempty"`
	// Times is the number of requests answered so. Left out, all of them are.
	Times int `json:"times,omitempty"`
}

// Agent is a provider with a model, or a command-line runner.
type Agent struct {
	// Name is the key under agents, or PROVIDER/MODEL for an unnamed one.
	Name string `json:"-"`
	// Provider is the name of the provider. It needs model, and excludes runner.
	Provider string `json:"provider,omitempty"`
	// Model is the model's id as the provider spells it. A runner is given it as
	// --model, and chooses for itself where it is left out.
	Model string `json:"model,omitempty"`
	// Purpose says in a few words what the agent is for. Agents that may call it
	// are told, and so is the user.
	Purpose string `json:"purpose,omitempty"`
	// Callable are the names of the agents that this one may give work to. Left out,
	// it is all configured ones but itself and offline; an empty list is none.
	Callable []string `json:"callable,omitzero"`
	// Vision says whether the model sees pictures. auto leaves it to evidence.
	Vision Vision `json:"vision,omitzero"`
	// Effort is how hard the model thinks before it answers. Left out, the backend
	// decides.
	Effort Effort `json:"effort,omitempty"`
	// Describer is the agent that describes pictures for this one.
	Describer string `json:"describer,omitempty"`
	// EscalateTo is the agent that this one may hand a hard task to.
	EscalateTo string `json:"escalate_to,omitempty"`
	// Fallbacks are tried in order when this agent fails. Each is the name of an
	// agent or PROVIDER/MODEL.
	Fallbacks []string `json:"fallbacks,omitempty"`
	// Runner is the command-line agent that does the work in place of a provider.
	Runner Runner `json:"runner,omitempty"`
	// Command starts the runner: the program and its arguments. It takes the place
	// of the usual program, and the runner custom needs it.
	Command []string `json:"command,omitempty"`
}

// MCPServer is one Model Context Protocol server.
type MCPServer struct {
	// Name is the key under mcp_servers.
	Name string `json:"-"`
	// Type is the transport. Left out, it is stdio with a command and http with a
	// url. streamable-http is the same as http.
	Type Transport `json:"type,omitempty"`
	// Command is the program that is started for the transport stdio.
	Command string `json:"command,omitempty"`
	// Args are the arguments of the command.
	Args []string `json:"args,omitempty"`
	// Env are environment variables added for the command.
	Env map[string]string `json:"env,omitempty"`
	// CWD is the folder that the command runs in. Left out, it is the session's.
	CWD string `json:"cwd,omitempty"`
	// URL is the absolute address of the server for the transports http and sse.
	URL string `json:"url,omitempty"`
	// Headers are sent with each request to the url.
	Headers map[string]string `json:"headers,omitempty"`
	// Disabled keeps the server from being used.
	Disabled bool `json:"disabled,omitempty"`
	// Timeout bounds one call of a tool. Left out, it is 2m.
	Timeout Duration `json:"timeout,omitempty"`
	// StartTimeout bounds the start of the server, until its tools are known. Left
	// out, it is 30s.
	StartTimeout Duration `json:"start_timeout,omitempty"`
	// Allow are the tools of the server that are offered, by name or by a pattern
	// such as get_*. Left out, all are.
	Allow []string `json:"allow,omitempty"`
	// Deny are the tools of the server that are not offered, by name or pattern,
	// also where allow names them.
	Deny []string `json:"deny,omitempty"`
}

// ACP holds the settings for editors.
type ACP struct {
	// V2 allows version 2 of the protocol where the editor asks for it.
	V2 bool `json:"v2,omitempty"`
	// Fork serves session/fork of version 1, which is not part of the stable
	// protocol.
	Fork bool `json:"fork,omitempty"`
	// Echo says whether the user's blocks are sent back in version 1. auto leaves
	// them out for editors that are known to draw the message twice.
	Echo Echo `json:"echo,omitempty"`
	// UnknownBlocks says what becomes of a block kind that is not known.
	UnknownBlocks UnknownBlocks `json:"unknown_blocks,omitempty"`
	// MaxLine is the greatest length of an incoming message.
	MaxLine Bytes `json:"max_line,omitempty"`
}

// Limits bound one turn. Zero RequestBytes and TurnTimeout mean no bound of the
// user's own; the others always hold a value after Merge.
type Limits struct {
	// MaxSends is the greatest number of sendings of one request, 1 to 6.
	MaxSends int `json:"max_sends,omitempty"`
	// MaxSteps is the greatest number of rounds of tool calls in a turn.
	MaxSteps int `json:"max_steps,omitempty"`
	// AttachmentBytes is the greatest size of one attachment as handed over.
	AttachmentBytes Bytes `json:"attachment_bytes,omitempty"`
	// InlineTextBytes is the size up to which a text file goes into the prompt.
	InlineTextBytes Bytes `json:"inline_text_bytes,omitempty"`
	// HistoryBytes is the budget for pictures of earlier turns in one request.
	HistoryBytes Bytes `json:"history_bytes,omitempty"`
	// PictureBytes is the greatest size of one picture as sent, before base64.
	PictureBytes Bytes `json:"picture_bytes,omitempty"`
	// RequestBytes is the greatest size of a request body. Left out, it is the
	// provider's.
	RequestBytes Bytes `json:"request_bytes,omitempty"`
	// ToolOutputBytes is the greatest size of the text that one tool call gives the
	// model. What is longer is cut, and the whole is kept in a file.
	ToolOutputBytes Bytes `json:"tool_output_bytes,omitempty"`
	// TaskDepth is how deep tasks may lie in each other. With 1, the task of an
	// agent cannot start tasks.
	TaskDepth int `json:"task_depth,omitempty"`
	// Jobs is the greatest number of tasks and commands that run in the background
	// of one session.
	Jobs int `json:"jobs,omitempty"`
	// SummaryAt is how full the model's context window may get before the oldest
	// turns are summarised, in percent, 10 to 100.
	SummaryAt int `json:"summary_at,omitempty"`
	// TurnTimeout ends a turn that takes longer. Left out, none does.
	TurnTimeout Duration `json:"turn_timeout,omitempty"`
}

// Permissions say what tools may do. A deny rule beats an ask rule, which beats
// an allow rule. A rule is tool or tool(pattern).
type Permissions struct {
	// Mode is the general policy, from the strictest: plan, ask, edits, full.
	Mode Mode `json:"mode,omitempty"`
	// Allow are the rules for what runs without asking, such as bash(go test *) or
	// edit(src/**). edit is every tool that changes files, read every tool that reads
	// a path.
	Allow []string `json:"allow,omitempty"`
	// Ask are the rules for what asks first. They are read as widely as those of deny.
	Ask []string `json:"ask,omitempty"`
	// Deny are the rules for what never runs. write and edit are every tool that
	// changes files, read every tool that reads a path, and a folder is all in it.
	Deny []string `json:"deny,omitempty"`
}

// Privacy holds the settings about what leaves the machine.
type Privacy struct {
	// StripMetadata removes places, EXIF, XMP, IPTC and comments, losslessly,
	// from pictures that are sent as they are; those that are encoded anew never
	// hold any. A picture that goes by path, as a copy of its file for tools, or
	// that cannot be decoded here keeps what it holds.
	StripMetadata bool `json:"strip_metadata,omitempty"`
}

// Sizes that hold where nothing is configured. KB and MB are powers of ten,
// KiB and MiB powers of two.
const (
	defaultAttachment = 32 << 20   // per attachment, checked before decoding
	defaultInlineText = 64 << 10   // a longer text file goes by path
	defaultHistory    = 30_000_000 // pictures of earlier turns
	defaultPicture    = 10_000_000 // a picture as sent
	defaultMaxLine    = 64 << 20   // an ACP message
	maxSends          = 6          // of one request, also the default
	defaultMaxSteps   = 100        // rounds of tool calls
	defaultToolOutput = 32 << 10   // text of a tool call for the model
	defaultTaskDepth  = 2          // tasks in tasks
	defaultJobs       = 4          // at a time in a session
	defaultSummaryAt  = 80         // percent of the window
)

// Default returns the configuration that holds without any file.
func Default() Config {
	return Config{
		Probe: ProbeAuto,
		ACP: ACP{
			Echo:          EchoAuto,
			UnknownBlocks: UnknownDegrade,
			MaxLine:       defaultMaxLine,
		},
		Limits: Limits{
			MaxSends:        maxSends,
			MaxSteps:        defaultMaxSteps,
			AttachmentBytes: defaultAttachment,
			InlineTextBytes: defaultInlineText,
			HistoryBytes:    defaultHistory,
			PictureBytes:    defaultPicture,
			ToolOutputBytes: defaultToolOutput,
			TaskDepth:       defaultTaskDepth,
			Jobs:            defaultJobs,
			SummaryAt:       defaultSummaryAt,
		},
		Tools: Tools{
			Bash:  BashTool{Sandbox: SandboxOff, Timeout: defaultBash, MaxTimeout: defaultMaxBash},
			Fetch: FetchTool{Enabled: true},
		},
		Permissions: Permissions{Mode: ModeAsk},
	}
}
