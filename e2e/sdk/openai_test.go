package sdk_test

import (
	"encoding/json"
	"testing"

	"github.com/openai/openai-go/v3"

	"tote/internal/provider"
	totechat "tote/internal/provider/openai"
)

const loopback = "http://127.0.0.1:1"

// TestChat holds a request for Chat Completions against the official types.
func TestChat(t *testing.T) {
	s := conversation(t, "openai-chat", "https://api.openai.com/v1", "gpt-5.4", has{audio: true, documents: true})
	body := s.body(t, totechat.New(provider.Options{BaseURL: loopback}, totechat.Config{Model: "gpt-5.4", Detail: "high"}))
	var params openai.ChatCompletionNewParams
	if err := json.Unmarshal(body, &params); err != nil {
		t.Fatal(err)
	}
	theirs, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	ours, ok := tree(t, body).(map[string]any)
	if !ok || ours["stream"] != true {
		t.Fatal("the request is not for a stream")
	}
	delete(ours, "stream") // the SDK sets it by itself
	compare(t, ours, tree(t, theirs))
}
