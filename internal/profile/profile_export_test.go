package profile

import (
	"bytes"
	"sync"
	"time"

	"tote/internal/delivery"
)

// BuildFrom is Build with the catalogue in file, made by WriteCatalogue.
func BuildFrom(file []byte, b Binding, learned []Fact, now time.Time) delivery.Profile {
	return build(catalogueOf(file), &b, learned, now)
}

func catalogueOf(file []byte) *Catalogue {
	return &Catalogue{load: sync.OnceValue(func() *snapshot {
		s, err := readSnapshot(bytes.NewReader(file), len(file))
		if err != nil {
			panic(err)
		}
		return s
	})}
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

// WireFrom is WireOf with the catalogue in file, made by WriteCatalogue.
func WireFrom(file []byte, kind, baseURL, model string) Wire {
	return wireOf(catalogueOf(file), kind, baseURL, model)
}

// WireRows is how many rows there are, WireRowsOf which count for somebody.
func WireRows() int { return len(wires) }

func WireRowsOf(kind, baseURL, model string) []int {
	var out []int
	for i := range wires {
		if wires[i].isFor(kind, hostOf(baseURL), bareModel(kind, model)) {
			out = append(out, i)
		}
	}
	return out
}
