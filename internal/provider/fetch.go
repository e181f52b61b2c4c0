package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"tote/internal/delivery"
)

const (
	// maxFetch is how much of an answer Fetch takes, in bytes. Lists of models
	// are the longest that it is used for.
	maxFetch = 16 << 20
	// fetchTimeout bounds a Fetch as a whole.
	fetchTimeout = 5 * time.Second
)

// Fetch sends a small request once and returns the whole answer: what a server
// says of itself. A nil body sends none. An answer that says no is an *Error.
func (c *Client) Fetch(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	data, err := c.fetch(ctx, method, path, body)
	if err != nil {
		if e, ok := errors.AsType[*Error](err); ok {
			return nil, c.polish(context.WithoutCancel(ctx), e)
		}
		return nil, c.polish(ctx, err)
	}
	return data, nil
}

func (c *Client) fetch(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	if c.err != nil {
		return nil, c.err
	}
	u, err := c.address(path)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", withoutURL(err))
	}
	if err := c.head(req, nil); err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if body == nil {
		req.Header.Del("Content-Type")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, proxied(withoutURL(err))
	}
	defer func() { _ = resp.Body.Close() }() // what was read counts
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxFetch+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer: %w", err)
	case len(data) > maxFetch:
		return nil, &Error{Failure: delivery.Failure{Kind: delivery.FailProtocol}, Message: "its answer is longer than 16 MiB"}
	case resp.StatusCode == http.StatusProxyAuthRequired:
		return nil, proxyRefusal()
	case resp.StatusCode < 200 || resp.StatusCode >= 300:
		return nil, Rejection(resp.StatusCode, data[:min(len(data), maxErrorBody)])
	}
	return data, nil
}
