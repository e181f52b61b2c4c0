package headless

import (
	"fmt"
	"io"
	"strings"
	"time"

	"tote/internal/agent"
	"tote/internal/delivery"
)

// Row is an agent in the list of models.
type Row struct {
	Name, Provider, Model, Path string
	Images, Audio, Documents    delivery.Capability
	Context                     int
	Problem                     string
	Default                     bool
	// Refused says in words what its backend has refused.
	Refused []string
}

type jsonCapability struct {
	Answer   string `json:"answer"`
	Evidence string `json:"evidence"`
	Detail   string `json:"detail"`
}

func capability(c delivery.Capability) jsonCapability {
	return jsonCapability{c.Answer.String(), c.Evidence.String(), c.Detail}
}

type jsonModel struct {
	Type      string         `json:"type"`
	Agent     string         `json:"agent"`
	Provider  string         `json:"provider"`
	Model     string         `json:"model"`
	Path      string         `json:"path"`
	Default   bool           `json:"default"`
	Images    jsonCapability `json:"images"`
	Audio     jsonCapability `json:"audio"`
	Documents jsonCapability `json:"documents"`
	Context   int            `json:"context_tokens"`
	Problem   string         `json:"problem"`
	Refused   []string       `json:"refused"`
}

// Models lists agents: what each takes, and how that is known.
func Models(rows []Row, s Streams) error {
	enc := lines(s.Out)
	for _, r := range rows {
		if s.Format == JSON {
			if err := enc.Encode(r.json()); err != nil {
				return err
			}
			continue
		}
		if _, err := io.WriteString(s.Out, r.plain()); err != nil {
			return err
		}
	}
	return nil
}

func (r Row) json() jsonModel {
	m := jsonModel{
		"model", r.Name, r.Provider, r.Model, r.Path, r.Default, capability(r.Images), capability(r.Audio),
		capability(r.Documents), r.Context, r.Problem, r.Refused,
	}
	if m.Refused == nil {
		m.Refused = []string{}
	}
	return m
}

func (r Row) plain() string {
	mark := " "
	if r.Default {
		mark = "*"
	}
	var sb strings.Builder
	model := r.Provider
	if r.Model != "" {
		model += "/" + r.Model
	}
	fmt.Fprintf(&sb, "%s %s  (%s)\n", mark, oneLine(r.Name), oneLine(model))
	if r.Problem != "" {
		fmt.Fprintf(&sb, "    cannot be used: %s\n", oneLine(r.Problem))
		return sb.String()
	}
	for _, k := range []struct {
		name string
		c    delivery.Capability
	}{{"pictures", r.Images}, {"sound", r.Audio}, {"documents", r.Documents}} {
		fmt.Fprintf(&sb, "    %-10s %s\n", k.name, inWords(k.c))
	}
	for _, x := range r.Refused {
		fmt.Fprintf(&sb, "    refused    %s\n", oneLine(x))
	}
	return sb.String()
}

func inWords(c delivery.Capability) string {
	s := c.Answer.String()
	switch {
	case c.Detail != "":
		s += " (" + c.Detail + ")"
	case c.Evidence != delivery.EvidenceNone:
		s += " (" + c.Evidence.String() + ")"
	}
	return oneLine(s)
}

type jsonListed struct {
	Type     string    `json:"type"`
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	Cwd      string    `json:"cwd"`
	Agent    string    `json:"agent"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	Turns    int       `json:"turns"`
	Pictures int       `json:"pictures"`
}

// Sessions lists sessions, newest first.
func Sessions(list []agent.Stored, s Streams) error {
	enc := lines(s.Out)
	for _, x := range list {
		var err error
		if s.Format == JSON {
			err = enc.Encode(jsonListed{"session", x.ID, x.Title, x.Cwd, x.Agent, x.Created, x.Updated, x.Turns, x.Pictures})
		} else {
			_, err = fmt.Fprintf(s.Out, "%s  %s  %s, %s  %s  %s\n", x.ID, x.Updated.Local().Format("2006-01-02 15:04"),
				count(int64(x.Turns), "turn"), count(int64(x.Pictures), "picture"), oneLine(x.Cwd), oneLine(x.Title))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Sent is a receipt with the request that it is about.
type Sent struct {
	Request, Attempt int
	Receipt          delivery.Receipt
}

// PrintReceipts lists receipts in order.
func PrintReceipts(list []Sent, s Streams) error {
	enc := lines(s.Out)
	for _, x := range list {
		var err error
		if s.Format == JSON {
			err = enc.Encode(receiptLine(x.Receipt, x.Request, x.Attempt))
		} else {
			_, err = fmt.Fprintf(s.Out, "request %d: %s\n", x.Request, ReceiptLine(x.Receipt))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Preview lists what would happen to files on a model. degraded reports that
// some would not be delivered whole.
func Preview(list []delivery.Receipt, s Streams) (degraded bool, err error) {
	enc := lines(s.Out)
	for _, r := range list {
		degraded = degraded || r.Degraded()
		if s.Format == JSON {
			err = enc.Encode(receiptLine(r, 0, 0))
		} else {
			_, err = fmt.Fprintln(s.Out, ReceiptLine(r))
		}
		if err != nil {
			return degraded, err
		}
	}
	return degraded, nil
}

// PutJSON writes any value as one JSON line.
func PutJSON(w io.Writer, v any) error { return lines(w).Encode(v) }
