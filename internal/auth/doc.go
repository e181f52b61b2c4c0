// Package auth keeps keys: in the keyring of the system where there is one, else in
// a file that only its owner can read, which is said. It also gets one: the device
// login of GitHub, for Copilot.
//
// A configuration names a kept key as "keyring:NAME". A key is never in an error, a
// log or a listing; listings hold names.
//
// It imports nothing of this module.
package auth
