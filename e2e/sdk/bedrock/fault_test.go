package bedrock_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/eventstream"

	"tote/e2e/sdk"
	"tote/internal/provider"
	totebedrock "tote/internal/provider/bedrock"
)

// TestExceptions has both read an answer that breaks off with each exception that
// the service's model names for it.
func TestExceptions(t *testing.T) {
	for _, name := range []string{
		"internalServerException", "modelStreamErrorException", "validationException", "throttlingException", "serviceUnavailableException",
	} {
		t.Run(name, func(t *testing.T) {
			const message = "it went wrong there"
			a := begin()
			a.block(says("and so"))
			var answer bytes.Buffer
			answer.Write(frames(t, a.events...))
			m := eventstream.Message{Payload: []byte(`{"message":"` + message + `"}`)}
			m.Headers.Set(eventstream.MessageTypeHeader, eventstream.StringValue(eventstream.ExceptionMessageType))
			m.Headers.Set(eventstream.ExceptionTypeHeader, eventstream.StringValue(name))
			m.Headers.Set(eventstream.ContentTypeHeader, eventstream.StringValue("application/json"))
			if err := eventstream.NewEncoder().Encode(&answer, m); err != nil {
				t.Fatal(err)
			}

			s := sdk.NewStage(t, sdk.Vendor{Kind: totebedrock.Path, Base: base, Model: claude})
			w := sdk.NewWire(t, mediaType, answer.Bytes())
			p := totebedrock.New(provider.Options{Transport: w, MaxRetries: -1}, config(t, s, claude))
			body, data := sdk.Body(t, p, s.Request(t, provider.EffortDefault))
			text, failure := listen(t, p, body)
			if failure == nil || !strings.Contains(failure.Error(), message) || text != "and so" {
				t.Errorf("tote reads %q and %v", text, failure)
			}

			out, err := client(w).ConverseStream(t.Context(), input(t, claude, data))
			if err != nil {
				t.Fatal(err)
			}
			theirs := heard(t, out.GetStream().Events(), false)
			var e smithy.APIError
			if !errors.As(out.GetStream().Err(), &e) || !strings.EqualFold(e.ErrorCode(), name) || e.ErrorMessage() != message || theirs.Text != text {
				t.Errorf("the SDK reads %q and %v", theirs.Text, out.GetStream().Err())
			}
		})
	}
}

func listen(t *testing.T, p provider.Provider, body provider.Body) (text string, failure error) {
	t.Helper()
	for ev, err := range p.Stream(t.Context(), body) {
		if err != nil {
			return text, err
		}
		if d, ok := ev.(provider.TextDelta); ok {
			text += d.Text
		}
	}
	return text, nil
}
