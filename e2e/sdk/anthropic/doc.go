// Package anthropic holds the Messages API against
// github.com/anthropics/anthropic-sdk-go, in both generations of the API, each of
// which has its own major version of the SDK. It holds tests only.
package anthropic
