package delivery_test

// reader turns fuzzed bytes into choices. When they are used up it always
// chooses the first.
type reader struct{ rest []byte }

// n chooses one of the first k numbers.
func (r *reader) n(k int) int {
	if k <= 1 || len(r.rest) == 0 {
		return 0
	}
	c := r.rest[0]
	r.rest = r.rest[1:]
	return int(c) % k
}

// bit chooses no or yes; no is the first.
func (r *reader) bit() bool { return r.n(2) == 1 }

// pick chooses one of vs.
func pick[T any](r *reader, vs ...T) T { return vs[r.n(len(vs))] }
