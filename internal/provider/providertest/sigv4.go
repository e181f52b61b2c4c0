package providertest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// SigV4 is a key of AWS and what it signs for.
type SigV4 struct {
	ID, Secret, Token string
	Region, Service   string
}

// CheckSigV4 computes the signature of a received request anew, the way AWS
// does, and reports how the sent one differs
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html,
// read 2026-11-30).
func CheckSigV4(r *http.Request, body []byte, key SigV4) error {
	got, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return errors.New("the request is not signed")
	}
	fields := map[string]string{}
	for f := range strings.SplitSeq(got, ", ") {
		k, v, _ := strings.Cut(f, "=")
		fields[k] = v
	}
	date := r.Header.Get("X-Amz-Date")
	if len(date) != len("20060102T150405Z") {
		return fmt.Errorf("date %q", date)
	}
	scope := strings.Join([]string{date[:8], key.Region, key.Service, "aws4_request"}, "/")
	if fields["Credential"] != key.ID+"/"+scope {
		return fmt.Errorf("signed for %q, want scope %s", fields["Credential"], scope)
	}
	if r.Header.Get("X-Amz-Security-Token") != key.Token {
		return errors.New("another session token")
	}
	signed := strings.Split(fields["SignedHeaders"], ";")
	for _, must := range []string{"host", "x-amz-date"} {
		if !slices.Contains(signed, must) {
			return fmt.Errorf("header %s is not signed", must)
		}
	}
	if key.Token != "" && !slices.Contains(signed, "x-amz-security-token") {
		return errors.New("the session token is not signed")
	}
	canonical := strings.Join([]string{
		r.Method, escapeTwice(r.URL), r.URL.RawQuery, canonicalHeaders(r, signed), fields["SignedHeaders"], hexHash(body),
	}, "\n")
	toSign := strings.Join([]string{"AWS4-HMAC-SHA256", date, scope, hexHash([]byte(canonical))}, "\n")
	k := []byte("AWS4" + key.Secret)
	for _, part := range []string{date[:8], key.Region, key.Service, "aws4_request", toSign} {
		k = mac(k, part)
	}
	if want := hex.EncodeToString(k); fields["Signature"] != want {
		return fmt.Errorf("signature %s, want %s", fields["Signature"], want)
	}
	return nil
}

// SignedBy answers a request that is signed with key as otherwise, any other one
// as AWS does.
func SignedBy(key SigV4, otherwise Reply) Reply {
	return func(w http.ResponseWriter, r *http.Request, body []byte) {
		if err := CheckSigV4(r, body, key); err != nil {
			Status(http.StatusForbidden, `{"message":`+quote("The request signature we calculated does not match: "+err.Error())+`}`,
				"X-Amzn-Errortype", "InvalidSignatureException:http://internal.amazon.com/")(w, r, body)
			return
		}
		otherwise(w, r, body)
	}
}

// escapeTwice spells the path as it is signed: escaped as it was sent, and once
// more, slashes aside.
func escapeTwice(u *url.URL) string {
	var sb strings.Builder
	path := u.EscapedPath()
	for i := range len(path) {
		c := path[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~/", c) >= 0 {
			sb.WriteByte(c)
			continue
		}
		fmt.Fprintf(&sb, "%%%02X", c)
	}
	return sb.String()
}

// canonicalHeaders spells the signed headers, in the order in which they are
// named, one a line.
func canonicalHeaders(r *http.Request, signed []string) string {
	var sb strings.Builder
	for _, name := range signed {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = strconv.FormatInt(r.ContentLength, 10)
		}
		sb.WriteString(name + ":" + strings.Join(strings.Fields(value), " ") + "\n")
	}
	return sb.String()
}

func hexHash(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

func mac(key []byte, s string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(s))
	return h.Sum(nil)
}
