// Package audio recognises sound files and measures them from their headers.
//
// It decodes no samples, trusts no name or declared type, and never panics: a
// field that runs past the end reads as unknown. Durations are exact for WAV,
// FLAC, Ogg and MP4; for MP3 they come from the Xing or VBRI header, or from
// the frames when there is none; for WebM they are given when the file states
// one. A duration of zero means unknown.
//
// The package imports nothing else of this module. Any package may import it.
package audio
