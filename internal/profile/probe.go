package profile

import (
	"strings"

	"tote/internal/content"
	"tote/internal/delivery"
)

// Question is what a model is asked about the probe's picture. It says nothing
// from which the code could be guessed.
const Question = "A short code is written in the attached picture. Reply with that code and nothing else."

// codeLength is the number of characters of a code.
const codeLength = 4

// A code is a letter, a digit, a letter, a digit, so that no word can be one. The
// alphabets leave out what is mistaken for another: vowels, B and 8, G and 6, L
// and 1, O and 0, Q, S and 5, Z and 2.
const (
	codeLetters = "CDFHJKMNPRTVWXY"
	codeDigits  = "34679"
)

// Code is the code to draw for a random number. There are 5,625 of them.
func Code(rand uint64) string {
	var b [codeLength]byte
	for i := range b {
		alphabet := codeLetters
		if i%2 == 1 {
			alphabet = codeDigits
		}
		n := uint64(len(alphabet))
		b[i] = alphabet[rand%n]
		rand /= n
	}
	return string(b[:])
}

// Judge says what a probe showed: a request with a picture of code and with
// Question, as answered (text and usage, and the zero failure) or as failed.
//
// Only what speaks of the picture settles anything. A refusal of the request is
// a no, unless its status or words are about something else: the address, the
// moment, the size or the form of this one picture. The right code, or pictures
// in the account, is a yes. A wrong answer without an account is unknown: a
// model that sees may read badly, and one that does not see may ramble.
func Judge(code, answer string, usage content.Usage, failure delivery.Failure) delivery.Answer {
	dropped := failure.Kind == delivery.FailDropped // answered, with an account of no pictures
	switch {
	case failure.Kind == delivery.FailRefused:
		return judgeRefusal(failure)
	case failure.Kind != delivery.FailNone && !dropped:
		return delivery.Unknown
	case holdsCode(answer, code):
		return delivery.Yes
	case usage.Image.Known && usage.Image.N > 0:
		return delivery.Yes
	case dropped, usage.Image.Known && usage.Image.N == 0:
		return delivery.No
	}
	return delivery.Unknown
}

func judgeRefusal(f delivery.Failure) delivery.Answer {
	switch f.Class {
	case delivery.ClassBlind:
		return delivery.No // whatever the status: servers use 400, 404, 500 and 200
	case delivery.ClassBytes, delivery.ClassEdge, delivery.ClassCount, delivery.ClassMIME, delivery.ClassDecode,
		delivery.ClassPlacement, delivery.ClassBody, delivery.ClassForm, delivery.ClassReasoning:
		return delivery.Unknown // it looked at the picture, and disliked this one
	case delivery.ClassUnknown:
	}
	switch f.Status {
	case 404, 405, 408, 409, 410, 413, 425, 429:
		return delivery.Unknown // no such address or model, not now, too large
	}
	if f.Status == 200 || f.Status >= 400 && f.Status < 500 {
		return delivery.No // an error inside a 200 is a refusal like any other
	}
	return delivery.Unknown
}

// holdsCode reports whether code stands in text as a word of its own, in any
// case, with spaces, hyphens or marks between its characters.
func holdsCode(text, code string) bool {
	if len(code) != codeLength {
		return false
	}
	for i := range len(text) {
		if wordByte(text[i]) && (i == 0 || !wordByte(text[i-1])) && spells(text[i:], code) {
			return true
		}
	}
	return false
}

// spells reports whether text begins with code and the word ends with it.
func spells(text, code string) bool {
	n := 0
	for i := range len(text) {
		c := text[i]
		switch {
		case n == len(code):
			return !wordByte(c)
		case upper(c) == upper(code[n]):
			n++
		case n == 0 || !gapByte(c):
			return false
		}
	}
	return n == len(code)
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// wordByte reports whether c belongs to a word. Other scripts are written right
// beside a code without a space, so their bytes do not.
func wordByte(c byte) bool { return '0' <= c && c <= '9' || 'A' <= upper(c) && upper(c) <= 'Z' }

// gapByte reports whether c may stand between two characters of a code.
func gapByte(c byte) bool { return strings.IndexByte(" \t\r\n-.,*`\"'|/_", c) >= 0 }
