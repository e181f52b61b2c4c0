package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"tote/internal/imaging/imagingtest"
	p "tote/internal/provider/providertest"
)

// mcpProgram is the name under which this test binary is an MCP server.
const mcpProgram = "tote-test-mcp"

// serveMCP is a small server on standard input and output, with a tool that takes a
// picture and one that counts.
func serveMCP() {
	in := bufio.NewReader(os.Stdin)
	shot := base64.StdEncoding.EncodeToString(imagingtest.PNG(imagingtest.Corners(70, 50)))
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Name            string `json:"name"`
				ProtocolVersion string `json:"protocolVersion"`
			} `json:"params"`
		}
		if json.Unmarshal(line, &m) != nil || m.ID == nil {
			continue // a notification
		}
		result := `{}`
		switch m.Method {
		case "initialize":
			result = fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"tiny","version":"7.7"}}`, m.Params.ProtocolVersion)
		case "tools/list":
			result = `{"tools":[{"name":"shoot","description":"Takes a picture.","inputSchema":{"type":"object"}},` +
				`{"name":"key","description":"Tells a variable.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}`
		case "tools/call":
			result = `{"content":[{"type":"text","text":"here it is"},{"type":"image","mimeType":"image/png","data":"` + shot + `"}]}`
			if m.Params.Name == "key" {
				result = fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, "the variable is "+os.Getenv("TINY_KEY"))
			}
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
	}
}

func mcpCommand(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath(mcpProgram)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestMCPOfAProject has a server of the project wait for trust. Its tools are asked
// about, and its picture arrives as one.
func TestMCPOfAProject(t *testing.T) {
	t.Parallel()
	rec := p.NewRecorder(t, p.Text("ok"), p.Text("ok"), p.Calls(call("c1", "mcp__tiny__shoot", args{}), call("c2", "mcp__tiny__key", args{})), p.Text("seen"))
	r := newRig(t)
	r.settings(rec.URL, `, "permissions": {"allow": ["mcp__tiny"]}`)
	r.env["TINY_KEY_SOURCE"] = "from the environment"
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"tiny": map[string]any{
		"command": mcpCommand(t), "env": map[string]string{"TINY_KEY": "${TINY_KEY_SOURCE}"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	r.write(".mcp.json", config)
	out := r.tote("mcp", "list").want(0)
	says(t, "mcp list", out.stdout+out.stderr, "no MCP servers", "wait for your trust")
	r.tote("run", "begin").want(0)
	if tools := toolNames(t, rec.Last().Body); strings.Contains(tools, "mcp__") {
		t.Errorf("tools before trust: %s", tools)
	}
	r.tote("trust").want(0)
	listed := r.tote("mcp", "list").want(0).stdout
	says(t, "mcp list", listed, "tiny", "2 tools", "0 prompts", "7.7")
	if got := r.tote("run", "/mcp").want(0).stdout; got != listed {
		t.Errorf("/mcp says %q, tote mcp list %q", got, listed)
	}
	l := r.tote("mcp", "list", "--json").want(0).lines("server")
	if len(l) != 1 || l[0].str("name") != "tiny" || l[0].str("state") != "ready" && l[0].str("state") != "running" {
		t.Errorf("mcp list: %v", l)
	}
	r.tote("run", "and now?").want(0)
	says(t, "the tools", toolNames(t, rec.Last().Body), "mcp__tiny__shoot", "mcp__tiny__key")
	got := r.tote("run", "--json", "take a picture").want(0)
	body := rec.Last().Body
	tells(t, body, "c1", "here it is", "image-1.png")
	tells(t, body, "c2", "from the environment")
	pics := pictures(t, rec)
	if len(pics) != 1 || string(pics[0]) != string(imagingtest.PNG(imagingtest.Corners(70, 50))) {
		t.Errorf("%d pictures of the server at the backend", len(pics))
	}
	noPayload(t, body, imagingtest.PNG(imagingtest.Corners(70, 50)))
	if d := got.receipt("image-1.png").str("disposition"); d != "inline" {
		t.Errorf("disposition %q", d)
	}
	// The file as it is now has to be looked at again.
	r.write(".mcp.json", append(config, '\n', '\n'))
	says(t, "after a change", r.tote("mcp", "list").want(0).stderr, "wait for your trust")
}

// TestMCPIsAskedAbout denies a server's tool where nobody can be asked.
func TestMCPIsAskedAbout(t *testing.T) {
	t.Parallel()
	rec := p.NewRecorder(t, asks("c1", "mcp__tiny__shoot", args{}), p.Text("ok"))
	r := newRig(t)
	r.settings(rec.URL, fmt.Sprintf(`, "mcp_servers": {"tiny": {"command": %q}, "gone": {"command": %q}}`, mcpCommand(t), "/nowhere/there-is-no-such-program"))
	out := r.tote("run", "--json", "take a picture").want(0)
	tells(t, rec.Last().Body, "c1", "not permitted")
	if n := len(pictures(t, rec)); n != 0 {
		t.Errorf("%d pictures", n)
	}
	says(t, "the notices", fmt.Sprint(out.lines("notice")), "gone")
	listed := r.tote("mcp", "list").want(0).stdout
	says(t, "mcp list", listed, "gone", "tiny")
	if got := r.tote("run", "/mcp").want(0).stdout; got != listed {
		t.Errorf("/mcp says %q, tote mcp list %q", got, listed)
	}
	r.tote("mcp", "login", "nobody").want(1)
	r.tote("mcp", "dance").want(2)
}

// toolNames are the tools that a request offers.
func toolNames(t *testing.T, body []byte) string {
	t.Helper()
	var names []string
	for _, x := range parse(t, body).Tools {
		names = append(names, x.Function.Name)
	}
	return strings.Join(names, " ")
}
