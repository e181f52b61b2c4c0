package bedrock

import (
	"context"
	"errors"
	"iter"
	"os"
	"strings"
	"sync"

	"tote/internal/provider"
)

// Path is the path of this wire in profiles and in stored reasoning.
const Path = "bedrock-converse"

// CachePoints says where a model takes marks up to which its prompt is cached.
// There are at most four in a request:
// https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html (read 2026-11-30).
type CachePoints uint8

// The kinds of marking. Nova takes none behind tools.
const (
	// CacheOff marks nothing.
	CacheOff CachePoints = iota
	// CacheAll marks the system prompt, the tools and the last two messages
	// of the user.
	CacheAll
	// CacheNoTools marks the same without the tools.
	CacheNoTools
)

// Config is what one model wants.
type Config struct {
	// Model is the id or ARN of a model or of an inference profile.
	Model string
	// Region is the AWS region, "" for what the base URL, the model's ARN,
	// the environment or the profile says, in this order.
	Region string
	// Profile is the profile in the AWS configuration, "" for what the
	// environment says.
	Profile string
	// Thinking is how the model is told to think.
	Thinking Thinking
	// CachePoints says where to mark what may be cached.
	CachePoints CachePoints
	// ResultStatus tells the model whether a tool failed. Claude and Nova
	// take the field, others refuse it.
	ResultStatus bool
	// Env reads a variable of the environment, nil for the process's. What
	// containers and web identities are given is read by the AWS library,
	// and always from the process's.
	Env func(string) string
	// ConfigFile and CredentialsFile are read in place of the files that the
	// environment names and of those in ~/.aws.
	ConfigFile, CredentialsFile string
}

// Converse is a model behind Amazon Bedrock.
type Converse struct {
	config Config
	opts   provider.Options
	path   string
	aws    *account

	mu     sync.Mutex
	client *provider.Client // nil until the region is known
}

var _ provider.Provider = (*Converse)(nil)

// New makes an adapter for ConverseStream. It reads and dials nothing: what is
// wrong with the AWS configuration is an error of the first request. An empty
// base URL of o stands for the region's own.
//
// A key of o, or else $AWS_BEARER_TOKEN_BEDROCK, is sent as a bearer token, and
// nothing is signed; so it is when the headers of o bring an authorization.
func New(o provider.Options, c Config) *Converse {
	if c.Env == nil {
		c.Env = os.Getenv
	}
	o.BaseURL = strings.TrimSpace(o.BaseURL)
	b := &Converse{config: c, path: "model/" + escapeLabel(c.Model) + "/converse-stream"}
	given := o.Key
	o.Key = func() (string, error) {
		if given != nil {
			if k, err := given(); err != nil || strings.TrimSpace(k) != "" {
				return k, err
			}
		}
		return c.Env(bearerEnv), nil
	}
	if o.KeyFrom == "" && c.Env(bearerEnv) != "" {
		o.KeyFrom = "$" + bearerEnv
	}
	if o.BaseURL == "" {
		o.BaseFrom = "the region (" + regionPlaces(o.Name) + ")"
	}
	b.aws = newAccount(o, c)
	o.Sign = b.aws.sign
	b.opts = o
	if o.BaseURL != "" {
		b.client = provider.NewClient(o)
	}
	return b
}

// bearerEnv is the variable that holds a key of Bedrock's own
// (https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys-use.html, read 2026-11-30).
const bearerEnv = "AWS_BEARER_TOKEN_BEDROCK"

// escapeLabel spells s as one segment of a path the way the service signs it:
// everything but letters, digits and "-._~" is escaped, so that an ARN is one
// segment.
func escapeLabel(s string) string {
	const hex = "0123456789ABCDEF"
	var sb strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			sb.WriteByte(c)
			continue
		}
		sb.Write([]byte{'%', hex[c>>4], hex[c&15]})
	}
	return sb.String()
}

// attached goes from Encode to Stream beside the bytes.
type attached struct {
	hash payloadHash
	// names are the tools' own names by those on the wire, where they differ.
	names map[string]string
}

// Stream implements [provider.Provider].
func (b *Converse) Stream(ctx context.Context, body provider.Body) iter.Seq2[provider.Event, error] {
	return func(yield func(provider.Event, error) bool) {
		client, err := b.connect(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		read := func(a *provider.Answer, emit func(provider.Event) bool) error {
			return readConverse(a, a.Header.Get(requestID), b.reading(body), emit)
		}
		for ev, err := range client.Stream(ctx, b.path, body, read) {
			if err != nil {
				yield(nil, b.explain(err))
				return
			}
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// requestID is the header in which AWS names a request.
const requestID = "X-Amzn-Requestid"

func (b *Converse) reading(body provider.Body) reading {
	r := reading{total: strings.Contains(b.config.Model, "openai.")}
	if at, ok := body.Attached.(*attached); ok {
		r.names = at.names
	}
	return r
}

// connect returns the client, which stands as soon as the region is known.
func (b *Converse) connect(ctx context.Context) (*provider.Client, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.client != nil {
		return b.client, nil
	}
	region, err := b.aws.region(ctx)
	if err != nil {
		return nil, err
	}
	o := b.opts
	o.BaseURL = endpoint(region)
	b.client = provider.NewClient(o)
	return b.client, nil
}

// explain adds to an error what only this wire knows: which of AWS's refusals
// are about credentials, and what to do about them.
func (b *Converse) explain(err error) error {
	var e *provider.Error
	if !errors.As(err, &e) {
		return err
	}
	out := *e
	b.aws.advise(&out)
	return &out
}
