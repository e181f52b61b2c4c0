package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"tote/internal/imaging/imagingtest"
	p "tote/internal/provider/providertest"
)

// benchEditor drives the program as an editor does, one request after the other.
type benchEditor struct {
	b   *testing.B
	cmd *exec.Cmd
	in  *bufio.Writer
	out *bufio.Reader
	end func()
	id  int
}

func newEditor(b *testing.B, program string, r *rig) *benchEditor {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), program, "acp")
	cmd.Dir, cmd.Env = r.cwd, append(os.Environ(), "TOTE_HOME="+r.home)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	e := &benchEditor{b: b, cmd: cmd, in: bufio.NewWriterSize(in, 1<<20), out: bufio.NewReaderSize(out, 1<<20)}
	e.end = func() {
		_ = in.Close() // the program ends on it, which Wait reports
		if err := cmd.Wait(); err != nil {
			b.Errorf("the program ended with %v", err)
		}
	}
	return e
}

// request sends one and reads lines until it is answered.
func (e *benchEditor) request(method, params string) string {
	e.b.Helper()
	e.id++
	if _, err := fmt.Fprintf(e.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", e.id, method, params); err != nil {
		e.b.Fatal(err)
	}
	if err := e.in.Flush(); err != nil {
		e.b.Fatal(err)
	}
	for {
		line, err := e.out.ReadString('\n')
		if err != nil {
			e.b.Fatal(err)
		}
		if strings.Contains(line, fmt.Sprintf(`"id":%d,"result"`, e.id)) {
			return line
		}
	}
}

func (e *benchEditor) open(cwd string) (session string) {
	e.b.Helper()
	e.request("initialize", `{"protocolVersion":1,"clientCapabilities":{}}`)
	line := e.request("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, cwd))
	_, rest, _ := strings.Cut(line, `"sessionId":"`)
	session, _, _ = strings.Cut(rest, `"`)
	return session
}

// memory reads a figure of the process in KB, 0 where the system has none.
func (e *benchEditor) memory(name string) float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", e.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	var kb float64
	for line := range strings.SplitSeq(string(data), "\n") {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			if _, err := fmt.Sscan(rest, &kb); err != nil {
				return 0
			}
		}
	}
	return kb
}

// BenchmarkEditor measures what an editor waits for: from the start of the
// process to the answers of initialize and of session/new, and from a prompt to
// the moment when a backend has the whole request; and the resident memory idle
// and at its peak.
func BenchmarkEditor(b *testing.B) {
	program := buildProgram(b)
	r := newRig(b)
	arrived := make(chan time.Time, 1)
	rec := p.NewRecorder(b, func(w http.ResponseWriter, req *http.Request, body []byte) {
		arrived <- time.Now()
		p.Text("ok")(w, req, body)
	})
	r.backend(rec.URL, "true")
	b.Run("initialize", func(b *testing.B) {
		var first, second time.Duration
		for b.Loop() {
			begun := time.Now()
			e := newEditor(b, program, r)
			e.request("initialize", `{"protocolVersion":1,"clientCapabilities":{}}`)
			first += time.Since(begun)
			e.request("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, r.cwd))
			second += time.Since(begun)
			e.end()
		}
		b.ReportMetric(float64(first.Microseconds())/float64(b.N)/1000, "ms-to-initialize")
		b.ReportMetric(float64(second.Microseconds())/float64(b.N)/1000, "ms-to-session")
	})
	shot := base64.StdEncoding.EncodeToString(imagingtest.Screenshot(3840, 2400, 1))
	for name, block := range map[string]string{
		"text":         `{"type":"text","text":"hi"}`,
		"7 MB picture": `{"type":"image","mimeType":"image/png","data":"` + shot + `"}`,
	} {
		b.Run("prompt, "+name, func(b *testing.B) {
			var out time.Duration
			var idle, peak float64
			for b.Loop() {
				e := newEditor(b, program, r)
				session := e.open(r.cwd)
				idle = e.memory("VmRSS")
				begun := time.Now()
				e.request("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[%s]}`, session, block))
				out += (<-arrived).Sub(begun)
				peak = max(peak, e.memory("VmHWM"))
				e.end()
			}
			b.ReportMetric(float64(out.Microseconds())/float64(b.N)/1000, "ms-to-request")
			if runtime.GOOS == "linux" {
				b.ReportMetric(idle/1000, "MB-idle")
				b.ReportMetric((peak-idle)/1000, "MB-added")
			}
		})
	}
}
