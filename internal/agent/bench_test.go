package agent_test

import (
	"runtime"
	"strings"
	"testing"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
)

// BenchmarkPrompt is a prompt of text in a session that holds 100 pictures: what
// a turn costs beyond the network and the disk.
func BenchmarkPrompt(b *testing.B) {
	bench := agenttest.New(b, agenttest.Options{})
	for i := range 100 {
		bench.Must(b.Context(), agenttest.PNG(20, 20, uint64(i)))
	}
	b.ReportAllocs()
	for b.Loop() {
		bench.Must(b.Context(), "hi")
		bench.Front.Forget()
		bench.Provider.Trim()
	}
}

// BenchmarkOpen500Pictures opens a session of 500 pictures over a database in
// memory: what the agent adds to reading it, and how many bytes of heap an open
// session keeps.
func BenchmarkOpen500Pictures(b *testing.B) {
	bench := agenttest.New(b, agenttest.Options{})
	for i := range 50 {
		var prompt []any
		for j := range 10 {
			prompt = append(prompt, agenttest.PNG(20, 20, uint64(i*10+j)))
		}
		bench.Must(b.Context(), prompt...)
		bench.Front.Forget()
		bench.Provider.Trim()
	}
	id := bench.Session.ID()
	open := func() *agent.Session {
		s, err := bench.Agent.Open(b.Context(), id, "", "", nil)
		if err != nil || len(s.Turns()) != 50 {
			b.Fatal(err)
		}
		return s
	}
	b.ReportAllocs()
	for b.Loop() {
		open()
	}
	before := heap()
	s := open()
	b.ReportMetric(heap()-before, "heap-B/session")
	runtime.KeepAlive(s)
}

// heap is how many bytes live objects take.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

func BenchmarkCompactConversation(b *testing.B) {
	bench := agenttest.New(b, agenttest.Options{Script: func(int, agenttest.Received) agenttest.Reply {
		return agenttest.Reply{agenttest.Say(strings.Repeat("well ", 100))}
	}})
	for i := range 100 {
		bench.Must(b.Context(), strings.Repeat("word ", 100), agenttest.PNG(9, 9, uint64(i)))
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = bench.Session.Compact(20_000)
	}
}
