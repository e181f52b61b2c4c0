package profile

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
)

// A snapshot file is gzip without a time stamp. Unpacked it is lines of JSON:
//
//	header                 Meta, the tables of limits and quirks, the endpoints
//	models of endpoint 0   one array
//	models of endpoint 1   ...
//
// A question needs the header and one line, so the other lines stay text.

// maxSnapshot bounds what reading a snapshot may unpack.
const maxSnapshot = 16 << 20

// ErrSnapshot is wrapped by every error about the content of a snapshot file.
var ErrSnapshot = errors.New("malformed catalogue snapshot")

type wireHeader struct {
	Meta      Meta           `json:"meta"`
	Limits    []Limits       `json:"limits"`
	Quirks    []Quirks       `json:"quirks"`
	Endpoints []wireEndpoint `json:"endpoints"`
}

type wireEndpoint struct {
	Provider string `json:"provider"`
	Kind     string `json:"kind"`
	BaseURL  string `json:"url"`
}

// wireModel refers to the header's tables by place counted from 1; 0 is none.
type wireModel struct {
	ID        string `json:"id"`
	Name      string `json:"name,omitzero"`
	Image     bool   `json:"image,omitzero"`
	Reasoning bool   `json:"reason,omitzero"`
	Context   int    `json:"ctx,omitzero"`
	MaxOutput int    `json:"out,omitzero"`
	Cost      Cost   `json:"cost"`
	Limits    int    `json:"lim,omitzero"`
	Quirks    int    `json:"q,omitzero"`
}

// snapshot is the unpacked form. Only the lines of endpoints that were asked
// for are decoded.
type snapshot struct {
	meta      Meta
	endpoints []*endpoint
	exact     map[endpointKey][]*endpoint
	patterns  []*endpoint // base URLs with a placeholder
}

type endpointKey struct{ kind, url string }

type endpoint struct {
	wireEndpoint
	decode func() (map[string]Record, error) // works once, then remembers
}

// models returns the endpoint's records by model. The embedded file is part of
// the program and decoded in full by a test, so that a fault in it is a bug.
func (e *endpoint) models() map[string]Record {
	m, err := e.decode()
	if err != nil {
		panic("profile: the embedded catalogue is not readable: " + err.Error())
	}
	return m
}

// readSnapshot reads a snapshot file of size bytes.
func readSnapshot(file io.Reader, size int) (*snapshot, error) {
	zr, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("unpack catalogue: %w: %w", ErrSnapshot, err)
	}
	var text strings.Builder
	text.Grow(min(8*size, maxSnapshot))
	if n, err := io.Copy(&text, io.LimitReader(zr, maxSnapshot+1)); err != nil {
		return nil, fmt.Errorf("unpack catalogue: %w: %w", ErrSnapshot, err)
	} else if n > maxSnapshot {
		return nil, fmt.Errorf("unpack catalogue: %w: more than %d bytes", ErrSnapshot, maxSnapshot)
	}
	head, body, _ := strings.Cut(text.String(), "\n")
	var h wireHeader
	if err := json.Unmarshal([]byte(head), &h); err != nil {
		return nil, fmt.Errorf("read catalogue header: %w: %w", ErrSnapshot, err)
	}
	s := &snapshot{meta: h.Meta, exact: make(map[endpointKey][]*endpoint, len(h.Endpoints))}
	for _, w := range h.Endpoints {
		line, rest, ok := strings.Cut(body, "\n")
		if !ok {
			return nil, fmt.Errorf("read catalogue: %w: no models for %s", ErrSnapshot, w.BaseURL)
		}
		body = rest
		s.add(&endpoint{wireEndpoint: w, decode: sync.OnceValues(func() (map[string]Record, error) {
			return decodeModels(&h, w, line)
		})})
	}
	if body != "" {
		return nil, fmt.Errorf("read catalogue: %w: models without an endpoint", ErrSnapshot)
	}
	return s, nil
}

func (s *snapshot) add(e *endpoint) {
	s.endpoints = append(s.endpoints, e)
	if strings.Contains(e.BaseURL, "{") {
		s.patterns = append(s.patterns, e)
		return
	}
	k := endpointKey{e.Kind, normalURL(e.BaseURL)}
	s.exact[k] = append(s.exact[k], e)
}

// find returns the endpoints that a kind and a base URL stand for. Several
// providers may share one.
func (s *snapshot) find(kind, baseURL string) []*endpoint {
	url := normalURL(baseURL)
	if es := s.exact[endpointKey{kind, url}]; es != nil {
		return es
	}
	for i, e := range s.patterns {
		if e.Kind == kind && matchURL(e.BaseURL, url) {
			return s.patterns[i : i+1]
		}
	}
	return nil
}

func decodeModels(h *wireHeader, e wireEndpoint, line string) (map[string]Record, error) {
	var ms []wireModel
	if err := json.Unmarshal([]byte(line), &ms); err != nil {
		return nil, fmt.Errorf("read catalogue models of %s: %w: %w", e.BaseURL, ErrSnapshot, err)
	}
	rs := make(map[string]Record, len(ms))
	for _, m := range ms {
		r := Record{
			Provider: e.Provider, Kind: e.Kind, BaseURL: e.BaseURL, Model: m.ID, Name: cmp.Or(m.Name, m.ID),
			Image: m.Image, Reasoning: m.Reasoning, ContextWindow: m.Context, MaxOutput: m.MaxOutput, Cost: m.Cost,
		}
		if m.Limits < 0 || m.Limits > len(h.Limits) || m.Quirks < 0 || m.Quirks > len(h.Quirks) {
			return nil, fmt.Errorf("read catalogue model %q of %s: %w: no such table row", m.ID, e.BaseURL, ErrSnapshot)
		}
		if m.Limits > 0 {
			r.Limits = h.Limits[m.Limits-1]
		}
		if m.Quirks > 0 {
			r.Quirks = h.Quirks[m.Quirks-1]
		}
		rs[m.ID] = r
	}
	return rs, nil
}

// ReadCatalogue reads a whole snapshot file made by WriteCatalogue. Records are
// in order of kind, URL, provider and model. Errors wrap ErrSnapshot.
func ReadCatalogue(file []byte) ([]Record, Meta, error) {
	s, err := readSnapshot(bytes.NewReader(file), len(file))
	if err != nil {
		return nil, Meta{}, err
	}
	var all []Record
	for _, e := range s.endpoints {
		ms, err := e.decode()
		if err != nil {
			return nil, Meta{}, err
		}
		all = slices.AppendSeq(all, maps.Values(ms))
	}
	slices.SortFunc(all, compareRecords)
	return all, s.meta, nil
}

func compareRecords(a, b Record) int {
	return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.BaseURL, b.BaseURL),
		strings.Compare(a.Provider, b.Provider), strings.Compare(a.Model, b.Model))
}

// WriteCatalogue returns the snapshot file of records. The same records and
// meta give the same bytes. It sets meta.Body. Two records of one model at one
// endpoint are an error, since a question could then have two answers.
func WriteCatalogue(meta Meta, records []Record) ([]byte, error) {
	records = slices.SortedFunc(slices.Values(records), compareRecords)
	var (
		h      = wireHeader{Meta: meta}
		limits = table[Limits]{rows: &h.Limits}
		quirks = table[Quirks]{rows: &h.Quirks}
		seen   = make(map[[3]string]bool, len(records))
		models [][]wireModel
	)
	for _, r := range records {
		key := [3]string{r.Kind, normalURL(r.BaseURL), r.Model}
		if seen[key] {
			return nil, fmt.Errorf("write catalogue: two records of %q at %s %s", r.Model, r.Kind, r.BaseURL)
		}
		seen[key] = true
		if err := checkPattern(r.BaseURL); err != nil {
			return nil, err
		}
		e := wireEndpoint{Provider: r.Provider, Kind: r.Kind, BaseURL: r.BaseURL}
		if n := len(h.Endpoints); n == 0 || h.Endpoints[n-1] != e {
			h.Endpoints, models = append(h.Endpoints, e), append(models, nil)
		}
		m := wireModel{
			ID: r.Model, Image: r.Image, Reasoning: r.Reasoning, Context: r.ContextWindow,
			MaxOutput: r.MaxOutput, Cost: r.Cost, Limits: limits.row(r.Limits), Quirks: quirks.row(r.Quirks),
		}
		if r.Name != r.Model {
			m.Name = r.Name
		}
		models[len(models)-1] = append(models[len(models)-1], m)
	}
	return packLines(h, models)
}

// checkPattern refuses a placeholder that matchURL could not tell from what
// follows it.
func checkPattern(baseURL string) error {
	_, rest, found := strings.Cut(baseURL, "{")
	if !found {
		return nil
	}
	_, after, closed := strings.Cut(rest, "}")
	if !closed || after != "" && strings.Contains(labelBytes+"{", after[:1]) {
		return fmt.Errorf("write catalogue: placeholder in %s is not followed by a separator", baseURL)
	}
	return checkPattern(after)
}

// table gives equal values one row and the empty value none.
type table[T any] struct {
	rows *[]T
	at   map[string]int
}

func (t *table[T]) row(v T) int {
	b, err := json.Marshal(v)
	if err != nil {
		panic("profile: a catalogue table holds plain data: " + err.Error())
	}
	if string(b) == "{}" {
		return 0
	}
	if t.at == nil {
		t.at = make(map[string]int)
	}
	if t.at[string(b)] == 0 {
		*t.rows = append(*t.rows, v)
		t.at[string(b)] = len(*t.rows)
	}
	return t.at[string(b)]
}

func packLines(h wireHeader, models [][]wireModel) ([]byte, error) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body) // ends each value with a newline
	enc.SetEscapeHTML(false)
	for _, ms := range models {
		if err := enc.Encode(ms); err != nil {
			return nil, fmt.Errorf("write catalogue models: %w", err)
		}
	}
	sum := sha256.Sum256(body.Bytes())
	h.Meta.Body = hex.EncodeToString(sum[:])

	var file bytes.Buffer
	zw, err := gzip.NewWriterLevel(&file, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("write catalogue: %w", err)
	}
	if err := json.NewEncoder(zw).Encode(h); err != nil {
		return nil, fmt.Errorf("write catalogue header: %w", err)
	}
	if _, err := zw.Write(body.Bytes()); err != nil {
		return nil, fmt.Errorf("write catalogue: %w", err)
	}
	if err := zw.Close(); err != nil {
		return nil, fmt.Errorf("write catalogue: %w", err)
	}
	return file.Bytes(), nil
}
