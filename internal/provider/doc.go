// Package provider is what every way to a model over HTTP shares: the contract
// of an adapter, request bodies that stream blobs from the store, server-sent
// events, transport retries, and the classification of errors.
//
// Adapters live in folders below it, one wire each. They only spell: what is
// sent, and in which form, was decided before they see it. No error or log of
// this package holds a payload, a header value or a key.
//
// Package provider imports content and delivery only.
package provider
