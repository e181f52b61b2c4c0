package archtest

// pkg is one row of the architecture. A folder with Go files that has no row
// fails, and so does a row without such a folder: adding or dropping a package
// is a decision, recorded here and in ARCHITECTURE.md.
type pkg struct {
	path string
	// imports are the packages of this module that its product files may import.
	imports []string
	// support marks what only tests import. Product code may not import it.
	support bool
	// why is given where the row is not evident.
	why string
}

const (
	archtestPkg   = "internal/archtest"
	content       = "internal/content"
	delivery      = "internal/delivery"
	permission    = "internal/permission"
	store         = "internal/store"
	imaging       = "internal/imaging"
	document      = "internal/document"
	audio         = "internal/audio"
	ingest        = "internal/ingest"
	profile       = "internal/profile"
	profileGen    = "internal/profile/gen"
	provider      = "internal/provider"
	openai        = "internal/provider/openai"
	anthropic     = "internal/provider/anthropic"
	gemini        = "internal/provider/gemini"
	ollama        = "internal/provider/ollama"
	bedrock       = "internal/provider/bedrock"
	cli           = "internal/provider/cli"
	offline       = "internal/provider/offline"
	tool          = "internal/tool"
	toolDelegate  = "internal/tool/delegate"
	toolSearch    = "internal/tool/search"
	toolShell     = "internal/tool/shell"
	toolWeb       = "internal/tool/web"
	mcp           = "internal/mcp"
	checkpoint    = "internal/checkpoint"
	project       = "internal/project"
	hook          = "internal/hook"
	auth          = "internal/auth"
	delegate      = "internal/delegate"
	slash         = "internal/front/slash"
	spell         = "internal/spell"
	history       = "internal/history"
	agent         = "internal/agent"
	config        = "internal/config"
	app           = "internal/app"
	frontACP      = "internal/front/acp"
	frontACPRPC   = "internal/front/acp/rpc"
	frontACPWire  = "internal/front/acp/wire"
	frontACPWire2 = "internal/front/acp/wire2"
	frontHeadless = "internal/front/headless"
	cmdTote       = "cmd/tote"
)

// core is every package below the wiring.
var core = []string{
	content, delivery, permission, store, imaging, document, audio, ingest, profile, provider, openai, offline,
	anthropic, gemini, ollama, bedrock, cli, tool, history, agent, config,
	toolDelegate, toolSearch, toolShell, toolWeb, mcp, checkpoint, project, hook, auth, delegate,
}

var table = []pkg{
	{path: content, why: "the vocabulary; everything may know it, it knows nothing"},
	{path: delivery, imports: []string{content}, why: "the heart decides from facts alone"},
	{path: permission, imports: []string{content}},
	{path: store, imports: []string{content}},
	{path: imaging, imports: []string{content, delivery}},
	{path: document, imports: []string{content, delivery}},
	{path: audio, imports: []string{content, delivery}},
	{path: ingest, imports: []string{content, delivery, imaging, document, audio, store}, why: "the one inlet"},
	{path: profile, imports: []string{content, delivery}},
	{path: profileGen, imports: []string{profile}, why: "a program for maintainers that writes the catalogue in the format of profile"},
	{path: provider, imports: []string{content, delivery}},
	{path: openai, imports: []string{content, delivery, provider}},
	{path: anthropic, imports: []string{content, delivery, provider}},
	{path: gemini, imports: []string{content, delivery, provider}},
	{path: ollama, imports: []string{content, delivery, provider}},
	{path: bedrock, imports: []string{content, delivery, provider}},
	{path: cli, imports: []string{content, delivery, provider}, why: "programs that speak for a model, in the place of a wire"},
	{path: offline, imports: []string{content, delivery, provider, openai, imaging}, why: "it stands in for a model, is spoken to over the wire of openai, and truly decodes the pictures it is sent"},
	{path: tool, imports: []string{content, permission}, why: "tools return sources; the agent ingests them"},
	{path: toolDelegate, imports: []string{content, permission, tool}},
	{path: toolSearch, imports: []string{content, permission, tool}},
	{path: toolShell, imports: []string{content, permission, tool}},
	{path: toolWeb, imports: []string{content, permission, tool}},
	{path: mcp, imports: []string{content, permission, tool}, why: "remote tools are tools"},
	{path: history, imports: []string{content, delivery}},
	{path: checkpoint, imports: []string{content, store}, why: "it declares what it needs of history"},
	{path: project, why: "what a project says to agents, as text"},
	{path: hook, imports: []string{permission}, why: "a hook is chosen by the rules' own syntax"},
	{path: auth},
	{path: delegate, imports: []string{content, delivery, permission, tool, agent}, why: "delegated work is a session like any other"},
	{path: agent, imports: []string{content, delivery, permission, provider, tool}, why: "it declares what it needs of store, history and ingest as interfaces"},
	{path: config, imports: []string{spell}, why: "plain data"},
	{path: spell, why: "the name that was meant"},
	{path: frontACP, imports: []string{content, delivery, permission, tool, agent, slash, frontACPRPC, frontACPWire, frontACPWire2}},
	{path: frontACPWire, imports: []string{content, agent, frontACPRPC}, why: "what the messages of front/acp hold; a receipt is spelt by agent, the same for every front"},
	{path: frontACPWire2, imports: []string{frontACPRPC, frontACPWire}, why: "what version 2, a draft, spells otherwise; it goes or stays as one"},
	{path: frontACPRPC, why: "the JSON-RPC half of front/acp; it knows lines and order, and nothing of agents"},
	{path: frontHeadless, imports: []string{content, delivery, permission, tool, agent, slash}},
	{path: slash, imports: []string{content, delivery, permission, tool, agent, delegate, spell}, why: "what a user types as /command, the same on every surface"},
	{path: app, imports: core, why: "the wiring; it knows everything but the surfaces"},
	{path: cmdTote, imports: append([]string{app, frontACP, frontHeadless, slash, spell}, core...), why: "flags, surfaces, exit codes"},

	{path: archtestPkg, support: true},
	{path: "internal/content/contenttest", imports: []string{content}, support: true},
	{path: "internal/imaging/imagingtest", imports: []string{content, delivery, imaging}, support: true},
	{path: "internal/document/documenttest", imports: []string{content, delivery, document}, support: true},
	{path: "internal/audio/audiotest", imports: []string{content, delivery, audio}, support: true},
	{path: "internal/store/storetest", imports: []string{content, store}, support: true},
	{path: "internal/agent/agenttest", imports: []string{content, delivery, permission, provider, tool, agent}, support: true},
	{path: "internal/provider/providertest", imports: []string{content, delivery, provider}, support: true},
	{
		path: "internal/provider/cli/clitest", imports: []string{content, "internal/provider/providertest"}, support: true,
		why: "programs that stand in for command-line agents",
	},
	{path: "internal/conformance", imports: append([]string{app, frontACP, frontHeadless, slash}, core...), support: true, why: "every adapter against every kind of block"},
}

// pureStd is what a pure package may take from the standard library and from
// outside: nothing that reads a clock, a file, the network or the environment,
// and nothing that runs beside the caller.
var pureStd = []string{
	"cmp", "encoding/hex", "errors", "fmt", "iter", "math", "slices", "strconv", "strings", "unicode", "unicode/utf8",
}

// pure maps each pure package to what it may use beyond pureStd.
var pure = map[string][]string{
	content:    nil,
	delivery:   {"maps", "sort"},
	permission: {"maps", "path", "sort", "net/url"},
}

// confined keeps an import to the places where it belongs. A name that ends in
// a slash stands for everything below it.
var confined = []struct {
	imp string
	in  []string
	why string
}{
	{"database/sql", []string{history}, "one package owns the database"},
	{"modernc.org/sqlite/", []string{history}, "one package owns the database"},
	{"net/http", []string{provider, openai, bedrock, offline, profile, ingest, toolWeb, mcp, auth, app}, "requests leave through provider, a link the user allowed through ingest or a tool, questions to a server through profile, MCP servers and logins through their own packages"},
	{"net", []string{provider, openai, bedrock, offline, profile, ingest, toolWeb, mcp, auth, app}, "as net/http; a surface speaks over the streams it is given"},
	{"os/exec", []string{toolShell, toolSearch, mcp, hook, document, cli, bedrock, app, cmdTote, profileGen}, "programs are started where permission was asked"},
	{"image", []string{imaging, offline, document}, "pictures are decoded behind the limits of imaging"},
	{"image/png", []string{imaging, document}, "pictures are decoded behind the limits of imaging"},
	{"image/jpeg", []string{imaging, document}, "pictures are decoded behind the limits of imaging"},
	{"image/gif", []string{imaging}, "pictures are decoded behind the limits of imaging"},
	{"golang.org/x/image/", []string{imaging}, "pictures are decoded behind the limits of imaging"},
	{"log", nil, "a fault is returned, not logged; diagnostics go through log/slog"},
	{"testing", nil, "product code does not know that it is tested"},
	{"plugin", nil, "one static program"},
	{"C", nil, "the product is built without a C compiler"},
	{"math/rand", nil, "math/rand/v2 has no global seed; crypto/rand where it must not be guessed"},
	{"crypto/md5", nil, "a digest is SHA-256"},
}

// confinedCalls keeps a selector to the places where it belongs.
var confinedCalls = []struct {
	pkg, name string
	in        []string
	why       string
}{
	{"os", "Exit", []string{cmdTote, profileGen}, "only a program ends the process"},
	{"os", "Stdout", []string{cmdTote, profileGen}, "stdout carries the protocol"},
	{"fmt", "Print", []string{cmdTote, profileGen}, "stdout carries the protocol"},
	{"fmt", "Printf", []string{cmdTote, profileGen}, "stdout carries the protocol"},
	{"fmt", "Println", []string{cmdTote, profileGen}, "stdout carries the protocol"},
	{"http", "DefaultClient", nil, "it has no time limits"},
	{"http", "DefaultTransport", nil, "it is shared and changeable"},
}
