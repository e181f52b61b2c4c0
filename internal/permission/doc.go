// Package permission turns rules into a verdict on what a tool wants to do.
//
// It is pure: no file system, no clock, nobody is asked here. Paths come in
// cleaned and absolute, with the fact whether they lie inside the roots; the
// verdict and its reason travel together. The zero verdict is Deny, so a
// forgotten case fails closed.
//
// It imports content only.
package permission
