package bedrock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"

	"tote/internal/delivery"
	"tote/internal/provider"
)

// service is the name that Bedrock's requests are signed for.
const service = "bedrock"

// sign signs a request as AWS wants it
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html,
// read 2026-11-30). One that carries a key or an authorization already is left
// as it is. It is called again for each sending, with a new date.
func (a *account) sign(ctx context.Context, r *http.Request, body provider.Body) error {
	if r.Header.Get("Authorization") != "" || a.opts.KeyHeader != "" && r.Header.Get(a.opts.KeyHeader) != "" {
		return nil
	}
	region, err := a.region(ctx)
	if err != nil {
		return err
	}
	keys, err := a.credentials(ctx)
	if err != nil {
		return err
	}
	hash, err := hashOf(body)
	if err != nil {
		return &provider.Error{
			Failure: delivery.Failure{Kind: delivery.FailSchema},
			Hint:    "a stored file is gone or damaged; tote store verify finds which",
			Err:     fmt.Errorf("build request: %w", err),
			Local:   true,
		}
	}
	if err := a.signer.SignHTTP(ctx, keys, r, hash, service, region, a.opts.Now()); err != nil {
		return fmt.Errorf("sign for AWS: %w", err)
	}
	return nil
}

// credentials are those of the moment: the library keeps them and renews them
// in time.
func (a *account) credentials(ctx context.Context) (aws.Credentials, error) {
	cfg, err := a.load(ctx)
	if err != nil {
		return aws.Credentials{}, err
	}
	if cfg.Credentials == nil {
		return aws.Credentials{}, a.fault(errors.New("no source of credentials"))
	}
	bounded, cancel := context.WithTimeout(ctx, credentialsTimeout)
	defer cancel()
	keys, err := cfg.Credentials.Retrieve(bounded)
	switch {
	case ctx.Err() != nil:
		return aws.Credentials{}, context.Cause(ctx)
	case err != nil:
		a.forget()
		return aws.Credentials{}, a.refused(cfg.Credentials, err)
	}
	return keys, nil
}

// payloadHash is the hash of a body, computed once for all its sendings.
type payloadHash struct {
	mu  sync.Mutex
	hex string
}

// hashOf reads the body once, piece by piece, and remembers the hash where
// Encode left room for it.
func hashOf(body provider.Body) (string, error) {
	at, ok := body.Attached.(*attached)
	if !ok {
		return hashBody(body)
	}
	at.hash.mu.Lock()
	defer at.hash.mu.Unlock()
	if at.hash.hex != "" {
		return at.hash.hex, nil
	}
	h, err := hashBody(body)
	if err == nil {
		at.hash.hex = h
	}
	return h, err
}

func hashBody(body provider.Body) (string, error) {
	r := body.Open()
	defer r.Close()
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
