package profile

import (
	"bytes"
	"sync"
	"time"

	"tote/internal/delivery"
)

// BuildFrom is Build with the catalogue in file, made by WriteCatalogue.
func BuildFrom(file []byte, b Binding, learned []Fact, now time.Time) delivery.Profile {
	c := &Catalogue{load: sync.OnceValue(func() *snapshot {
		s, err := readSnapshot(bytes.NewReader(file), len(file))
		if err != nil {
			panic(err)
		}
		return s
	})}
	return build(c, &b, learned, now)
}

// Kinds lists the protocols that have a row.
func Kinds() []string {
	var out []string
	for i := range kinds {
		out = append(out, kinds[i].kind)
	}
	return out
}

// Servers lists protocol and host of every row of a vendor's server.
func Servers() [][2]string {
	var out [][2]string
	for i := range servers {
		for _, h := range servers[i].hosts {
			out = append(out, [2]string{servers[i].kind, h})
		}
	}
	return out
}
