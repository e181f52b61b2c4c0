package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Bytes is a size. The files spell it as a number of bytes or as a string with a
// unit: "30 MB", "64KiB".
type Bytes int64

func decodeBytes(n *node) (Bytes, error) {
	const want = `want a number of bytes or a string such as "30MB" or "64KiB"`
	switch n.kind {
	case kindNumber:
		i, err := strconv.ParseInt(string(n.raw), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s is not a whole number of bytes below 2^63; %s", clean(string(n.raw)), want)
		}
		return Bytes(i), nil
	case kindString:
		size, ok := parseSize(n.str())
		if !ok {
			return 0, fmt.Errorf("%s is not a size; %s", quoted(n.str()), want)
		}
		return size, nil
	case kindNull, kindBool, kindObject, kindArray:
	}
	return 0, fmt.Errorf("is %s; %s", n.kindName(), want)
}

// parseSize reads a whole number with an optional unit.
func parseSize(s string) (Bytes, bool) {
	digits := strings.TrimSpace(s)
	unit := strings.TrimLeft(digits, "0123456789")
	digits = digits[:len(digits)-len(unit)]
	factor, ok := map[string]int64{
		"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
	}[strings.ToLower(strings.TrimSpace(unit))]
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > math.MaxInt64/factor {
		return 0, false
	}
	return Bytes(n * factor), true
}

// Duration is a span of time, spelled "90s" or "1h30m" in the files.
type Duration time.Duration

// String returns the duration as the files spell it.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes the duration as the files spell it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func decodeDuration(n *node) (Duration, error) {
	const want = `want a string such as "90s" or "1h30m"`
	if n.kind != kindString {
		return 0, fmt.Errorf("is %s; %s", n.kindName(), want)
	}
	v, err := time.ParseDuration(n.str())
	if err != nil {
		return 0, fmt.Errorf("%s is not a duration; %s", quoted(n.str()), want)
	}
	return Duration(v), nil
}

// maxRetries is the most that Provider.MaxRetries may be.
const maxRetries = 10

// Retries is how often a request is sent again. The zero value leaves it to the
// client; what the files spell 0 is NoRetries.
type Retries int

// NoRetries sends each request once.
const NoRetries Retries = -1

// MarshalJSON writes the number as the files spell it.
func (r Retries) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, int64(max(r, 0)), 10), nil
}

func decodeRetries(n *node) (Retries, error) {
	const want = "want a whole number from 0 to 10"
	if n.kind != kindNumber {
		return 0, fmt.Errorf("is %s; %s", n.kindName(), want)
	}
	i, err := strconv.Atoi(string(n.raw))
	if err != nil || i < 0 || i > maxRetries {
		return 0, fmt.Errorf("is %s; %s", clean(string(n.raw)), want)
	}
	if i == 0 {
		return NoRetries, nil
	}
	return Retries(i), nil
}
