// Package mcp holds tests of the client against servers that others wrote: the
// official reference server over each transport, a browser's, and one on the
// official TypeScript SDK that gives pictures.
//
// It is a module of its own, and needs node and what run.sh installs.
package mcp
