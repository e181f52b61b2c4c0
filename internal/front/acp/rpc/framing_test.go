package rpc_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"tote/internal/front/acp/rpc"
)

// pieces reads s in pieces of n bytes.
type pieces struct {
	s string
	n int
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.s == "" {
		return 0, io.EOF
	}
	n := copy(b, p.s[:min(p.n, len(p.s))])
	p.s = p.s[n:]
	return n, nil
}

// lines reads everything; a line that was too long shows as "over:<received>".
func lines(tb testing.TB, r io.Reader, limit int64) []string {
	tb.Helper()
	in := rpc.NewReader(r, limit)
	var out []string
	for {
		line, err := in.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			tb.Fatalf("Next: %v", err)
		}
		if line.Over != nil {
			out = append(out, "over:"+strconv.FormatInt(line.Over.Received, 10))
			continue
		}
		out = append(out, string(line.Bytes))
	}
}

func TestReaderLines(t *testing.T) {
	long := strings.Repeat("x", 300<<10) // more than the read buffer and a chunk
	edge := strings.Repeat("y", 64<<10)
	tests := []struct {
		name, in string
		limit    int64
		want     []string
	}{
		{"lf", "a\nb\n", 0, []string{"a", "b"}},
		{"crlf", "a\r\nb\r\n", 0, []string{"a", "b"}},
		{"blank", "\n\r\n \t\na\n\n", 0, []string{"a"}},
		{"no end", "a\nb", 0, []string{"a", "b"}},
		{"empty", "", 0, nil},
		{"carriage return inside", "a\rb\n", 0, []string{"a\rb"}},
		{"carriage return at end of input", "a\r", 0, []string{"a\r"}},
		{"long", long + "\n" + "b\n", 0, []string{long, "b"}},
		{"long crlf", long + "\r\n" + "b\n", 0, []string{long, "b"}},
		{"long no end", long, 0, []string{long}},
		{"buffer edge", edge + "\n" + edge[1:] + "\nb", 0, []string{edge, edge[1:], "b"}},
		{"at limit", "abc\nabcd\nabc\r\n", 3, []string{"abc", "over:4", "abc"}},
		{"long at limit", long + "\n" + long + "\r\n" + long, int64(len(long)), []string{long, long, long}},
		{"long over by one", long + "z\r\nb\n", int64(len(long)), []string{"over:" + strconv.Itoa(len(long)+1), "b"}},
		{"long far over", long + long + "\nb\n", 100, []string{"over:" + strconv.Itoa(2*len(long)), "b"}},
		{"over without end", long, 100, []string{"over:" + strconv.Itoa(len(long))}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, n := range []int{7, 4096, 1 << 20} {
				got := lines(t, &pieces{tt.in, n}, tt.limit)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("pieces of %d (-want +got):\n%s", n, diff)
				}
			}
		})
	}
}

func TestReaderReturnsOwnedLines(t *testing.T) {
	in := rpc.NewReader(strings.NewReader(strings.Repeat("a", 100<<10)+"\n"+strings.Repeat("b", 100<<10)+"\n"), 0)
	first, err := in.Next()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Next(); err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsRune(first.Bytes, 'b') {
		t.Error("the first line was overwritten by the second")
	}
}

func TestReaderBrokenStream(t *testing.T) {
	broken := errors.New("broken")
	for _, head := range []string{"", "half a line", strings.Repeat("x", 200<<10)} {
		in := rpc.NewReader(io.MultiReader(strings.NewReader(head), iotest.ErrReader(broken)), 0)
		if line, err := in.Next(); !errors.Is(err, broken) {
			t.Errorf("after %d bytes: Next = %v, %v; want the stream's error", len(head), line, err)
		}
	}
}

func TestReaderSkimsOver(t *testing.T) {
	payload := strings.Repeat(`A`, 400<<10)
	tests := []struct {
		name, in string
		want     rpc.Skim
	}{
		{
			"members first",
			`{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"s1","prompt":["` + payload + `"]}}`,
			rpc.Skim{ID: []byte("7"), Method: "session/prompt", SessionID: "s1"},
		},
		{
			"members last",
			`{"params":{"prompt":[{"id":1,"method":"no","sessionId":"no","data":"` + payload + `"}],"sessionId":"s1"},"method":"session/prompt","id":"a-1"}`,
			rpc.Skim{ID: []byte(`"a-1"`), Method: "session/prompt", SessionID: "s1"},
		},
		{
			"spaces and escapes",
			`{ "\u0069d" : -1.5e3 , "params" : { "x" : "\\\"{[` + payload + `\\" , "session\u0049d" : "s\/1" } , "method" : "a\/b" }`,
			rpc.Skim{ID: []byte(`-1.5e3`), Method: "a/b", SessionID: "s/1"},
		},
		{
			"last one counts",
			`{"id":1,"id":2,"params":{"sessionId":"a"},"params":{"x":"` + payload + `"},"method":"m"}`,
			rpc.Skim{ID: []byte("2"), Method: "m"},
		},
		{"notification", `{"method":"m","params":["` + payload + `"]}`, rpc.Skim{Method: "m"}},
		{"null id", `{"method":"m","id":null,"x":"` + payload + `"}`, rpc.Skim{ID: []byte("null"), Method: "m"}},
		{"id is no scalar", `{"method":"m","id":{"id":5},"x":"` + payload + `"}`, rpc.Skim{Method: "m"}},
		{"id is a bool", `{"method":"m","id":true,"x":"` + payload + `"}`, rpc.Skim{Method: "m"}},
		{"huge id", `{"method":"m","id":"` + payload + `"}`, rpc.Skim{Method: "m"}},
		{"huge name", `{"` + payload + `":1,"id":3,"method":"m"}`, rpc.Skim{ID: []byte("3"), Method: "m"}},
		{"reply", `{"id":3,"result":{"content":"` + payload + `"}}`, rpc.Skim{ID: []byte("3"), Reply: true}},
		{"batch", `[{"id":3,"method":"m","x":"` + payload + `"}]`, rpc.Skim{}},
		{"garbage", payload, rpc.Skim{}},
		{"invalid UTF-8 id", `{"id":"` + "\xff" + `","method":"m","x":"` + payload + `"}`, rpc.Skim{Method: "m"}},
		{"deep", `{"id":3,"method":"m","params":` + strings.Repeat(`[`, 200<<10) + strings.Repeat(`]`, 200<<10) + `}`, rpc.Skim{ID: []byte("3"), Method: "m"}},
		{"cut off", `{"id":3,"method":"m","params":{"sessionId":"s","x":"` + payload, rpc.Skim{ID: []byte("3"), Method: "m", SessionID: "s"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, n := range []int{7, 1 << 20} {
				line, err := rpc.NewReader(&pieces{tt.in, n}, 1000).Next()
				if err != nil || line.Over == nil {
					t.Fatalf("Next = %v, %v; want a line over the limit", line, err)
				}
				if diff := cmp.Diff(tt.want, line.Over.Skim); diff != "" {
					t.Errorf("pieces of %d (-want +got):\n%s", n, diff)
				}
			}
		})
	}
}

// endless yields a prompt whose payload has size bytes, without ever holding it.
type endless struct {
	head, tail string
	size       int64
}

func (e *endless) Read(b []byte) (int, error) {
	if e.head != "" {
		n := copy(b, e.head)
		e.head = e.head[n:]
		return n, nil
	}
	if e.size > 0 {
		n := min(int64(len(b)), e.size)
		for i := range b[:n] {
			b[i] = 'A'
		}
		e.size -= n
		return int(n), nil
	}
	if e.tail == "" {
		return 0, io.EOF
	}
	n := copy(b, e.tail)
	e.tail = e.tail[n:]
	return n, nil
}

// TestReaderBoundedMemory sends 200 MB without a line end. All that is ever
// allocated stays within the limit and a constant.
func TestReaderBoundedMemory(t *testing.T) {
	const limit = 16 << 20
	src := &endless{head: `{"jsonrpc":"2.0","params":{"data":"`, size: 200e6, tail: `"},"method":"session/prompt","id":4}` + "\nnext\n"}
	in := rpc.NewReader(src, limit)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	line, err := in.Next()
	runtime.ReadMemStats(&after)
	if err != nil || line.Over == nil {
		t.Fatalf("Next = %v, %v; want a line over the limit", line.Over, err)
	}
	if line.Over.Received < 200e6 || string(line.Over.ID) != "4" || line.Over.Method != "session/prompt" {
		t.Errorf("Over = %+v", line.Over)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > limit+2<<20 {
		t.Errorf("allocated %d bytes in all, want at most the limit of %d and 2 MiB", got, limit)
	}
	if line, err = in.Next(); err != nil || string(line.Bytes) != "next" {
		t.Errorf("the line behind it: %q, %v", line.Bytes, err)
	}
}

// TestReaderMemoryOfALine holds the promise on what a kept line costs.
func TestReaderMemoryOfALine(t *testing.T) {
	const size = 10 << 20
	in := rpc.NewReader(&endless{size: size, tail: "\n"}, 0)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	line, err := in.Next()
	runtime.ReadMemStats(&after)
	if err != nil || len(line.Bytes) != size {
		t.Fatalf("Next = %d bytes, %v", len(line.Bytes), err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 2*size+1<<20 {
		t.Errorf("allocated %d bytes in all, want at most twice the line and 1 MiB", got)
	}
	if cap(line.Bytes) > size+size/8 {
		t.Errorf("cap = %d for a line of %d bytes", cap(line.Bytes), size)
	}
}
