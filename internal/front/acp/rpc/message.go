package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Message is one message of the client. All its slices alias the line.
type Message struct {
	// ID is the raw JSON of the id, nil for a notification. An id of null
	// makes a request: the first version of the protocol allows it.
	ID []byte
	// Method is empty for a reply.
	Method string
	// Params is the raw JSON of an object or an array, nil when there is none.
	Params []byte
	// Result and Err are what a reply holds.
	Result []byte
	Err    *Error
}

// Fault is why a line is no message, and what is to be done about it.
type Fault struct {
	// ID is the id to answer to, null when none could be told.
	ID  []byte
	Err *Error
	// Call is the id of our own request whose reply this was meant to be, nil
	// for anything else. Replies are not answered.
	Call []byte
	// Either: this has an id and nothing to tell by whether it is a request
	// without a method or a reply without a result. It is a reply when a request
	// of ours with the id of Call is open, else it is answered.
	Either bool
}

var nullID = []byte("null")

// lenient makes the decoder keep what JavaScript clients may send: names that
// stand twice and escaped lone surrogates. UTF-8 is checked apart.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// Parse reads one line. It validates the whole line once and copies none of it.
func Parse(line []byte) (Message, *Fault) {
	if !utf8.Valid(line) {
		return Message{}, malformed(line, "message is not valid UTF-8")
	}
	if i := skipSpace(line, 0); i < len(line) && line[i] != '{' {
		if !jsontext.Value(line).IsValid(lenient...) {
			return Message{}, &Fault{ID: nullID, Err: Errorf(CodeParse, "message is not valid JSON")}
		}
		if line[i] == '[' {
			return Message{}, &Fault{ID: nullID, Err: Errorf(CodeInvalidRequest, "batches are not supported")}
		}
		return Message{}, &Fault{ID: nullID, Err: Errorf(CodeInvalidRequest, "message is not an object")}
	}
	f, err := readFields(line)
	if err != nil {
		return Message{}, malformed(line, "message is not valid JSON")
	}
	return f.message()
}

// malformed is the fault of a line that cannot be parsed, for the id that a skim
// finds in it.
func malformed(line []byte, why string) *Fault {
	s := skim(line)
	f := &Fault{ID: nullID, Err: Errorf(CodeParse, "%s", why)}
	switch {
	case s.Method != "" && s.ID != nil:
		f.ID = s.ID
	case s.Reply:
		f.Call = s.ID
	}
	return f
}

// fields are the raw members of a message, nil where there is none.
type fields struct{ version, id, method, params, result, err []byte }

// readFields takes an object apart in one pass that validates it to its end.
func readFields(line []byte) (fields, error) {
	var f fields
	dec := jsontext.NewDecoder(bytes.NewBuffer(line), lenient...)
	if _, err := dec.ReadToken(); err != nil {
		return f, err
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadValue()
		if err != nil {
			return f, err
		}
		to := f.field(UnquoteBytes(name))
		value, err := dec.ReadValue()
		if err != nil {
			return f, err
		}
		if to != nil {
			*to = value
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return f, err
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return f, errors.New("more than one value")
	}
	return f, nil
}

func (f *fields) field(name []byte) *[]byte {
	switch string(name) {
	case "jsonrpc":
		return &f.version
	case "id":
		return &f.id
	case "method":
		return &f.method
	case "params":
		return &f.params
	case "result":
		return &f.result
	case "error":
		return &f.err
	}
	return nil
}

func (f *fields) message() (Message, *Fault) {
	if string(f.method) == "null" {
		f.method = nil // writers that spell absent members out
	}
	if f.method == nil && (f.result != nil || f.err != nil) {
		return f.reply()
	}
	id := f.id
	if id != nil && !validID(id) {
		return Message{}, &Fault{ID: nullID, Err: Errorf(CodeInvalidRequest, "id is not a string, a number or null")}
	}
	fault := func(why string) (Message, *Fault) {
		out := &Fault{ID: nullID, Err: Errorf(CodeInvalidRequest, "%s", why)}
		if id != nil {
			out.ID = id
		}
		return Message{}, out
	}
	method := Unquote(f.method)
	switch {
	case f.method == nil && id != nil:
		m, out := fault("message has neither a method nor a result")
		out.Call, out.Either = id, true
		return m, out
	case method == "":
		return fault("method is not a string")
	case Unquote(f.version) != "2.0":
		return fault(`jsonrpc is not "2.0"`)
	}
	m := Message{ID: id, Method: method}
	if f.params != nil && string(f.params) != "null" {
		if f.params[0] != '{' && f.params[0] != '[' {
			return fault("params is not an object")
		}
		m.Params = f.params
	}
	return m, nil
}

// reply reads what is meant to answer a request of ours. It never asks for an
// answer, so the only fault is a reply that its request cannot be told of.
func (f *fields) reply() (Message, *Fault) {
	if f.id == nil || !validID(f.id) {
		return Message{}, &Fault{Call: nullID, Err: Errorf(CodeInvalidRequest, "reply without an id")}
	}
	if f.err == nil || string(f.err) == "null" {
		return Message{ID: f.id, Result: f.result}, nil
	}
	e := new(Error)
	if err := json.Unmarshal(f.err, e); err != nil {
		e = Errorf(CodeInternal, "the client answered with an error that cannot be read")
	}
	return Message{ID: f.id, Err: e}, nil
}

// isWhole reports whether an id is a whole number of 64 bits.
func isWhole(id []byte) bool {
	_, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil
}
