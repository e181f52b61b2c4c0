package agent_test

import (
	"testing"

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
