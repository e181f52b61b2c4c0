// Package web holds the tool that fetches an address: fetch.
//
// The address that the user is asked about is the one that is fetched, to the
// byte. A redirect is followed on the same scheme, host and port only, and never
// from a public address to a private one; any other is told to the model, which
// has to ask for the new address. What comes back is judged by its bytes, not by
// what the server says: pages become text, pictures, PDF files and sound become
// sources for the agent's inlet, of anything else only facts are told.
//
// The package keeps no cookies and sends no credentials. Time, bytes and, for
// pages, depth are bounded. It imports content, permission and tool only.
package web
