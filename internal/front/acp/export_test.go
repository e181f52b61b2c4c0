package acp

// Decode and Update are what the handlers use to read parameters and to write
// session updates.
var (
	Decode = decode
	Update = update
)
