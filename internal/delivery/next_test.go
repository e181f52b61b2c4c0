package delivery_test

import (
	"testing"

	"tote/internal/delivery"
)

// try is one attempt: what it did, what it carried and how it failed.
func try(s delivery.Step, media, fresh int, k delivery.FailureKind) delivery.Attempt {
	return delivery.Attempt{Step: s, Media: media, Fresh: fresh, Failure: delivery.Failure{Kind: k}, Buffered: k == delivery.FailDropped}
}

// worded is a refusal whose words say what it is about.
func worded(a delivery.Attempt, c delivery.Class) delivery.Attempt {
	a.Failure.Class = c
	return a
}

// began is an attempt of whose answer some had arrived.
func began(a delivery.Attempt) delivery.Attempt {
	a.Began = true
	return a
}

// reached is an attempt that the backend had begun to take.
func reached(a delivery.Attempt) delivery.Attempt {
	a.Failure.Reached = true
	return a
}

func old(a delivery.Attempt) delivery.Attempt {
	a.Old = true
	return a
}

// Every kind of failure, at every position in which it can meet a request.
func TestNextByKind(t *testing.T) {
	const (
		plain, replay, stripNew, stripAll, evict = delivery.StepPlain, delivery.StepReplay, delivery.StepStripNew, delivery.StepStripAll, delivery.StepEvict

		refused, dropped, large = delivery.FailRefused, delivery.FailDropped, delivery.FailTooLarge
	)
	// The columns are what came before: nothing, a dropped picture whose
	// answer is kept, a refusal with new media out, a refusal with all
	// media out, an eviction. The failing attempt carries two pictures, one
	// of them new, as far as its step leaves them.
	columns := []struct {
		name   string
		before []delivery.Attempt
		last   delivery.Attempt
	}{
		{"first", nil, try(plain, 2, 1, 0)},
		{"after a drop", []delivery.Attempt{try(plain, 2, 1, dropped)}, try(replay, 2, 1, 0)},
		{"new media out", []delivery.Attempt{try(plain, 2, 1, refused)}, try(stripNew, 1, 0, 0)},
		{"all media out", []delivery.Attempt{try(plain, 2, 1, refused), try(stripNew, 1, 0, refused)}, try(stripAll, 0, 0, 0)},
		{"after an eviction", []delivery.Attempt{try(plain, 2, 1, large)}, try(evict, 2, 1, 0)},
	}
	want := [delivery.FailDropped + 1][5]string{
		delivery.FailCancelled:  {"fail", "fail", "fail", "fail", "fail"},
		delivery.FailAuth:       {"fail", "accept", "fail", "fail", "fail"},
		delivery.FailBilling:    {"fail", "accept", "fail", "fail", "fail"},
		delivery.FailPermission: {"fail", "accept", "fail", "fail", "fail"},
		delivery.FailRateLimit:  {"fail", "accept", "fail", "fail", "fail"},
		delivery.FailSchema:     {"fail", "accept", "fail", "fail", "fail"},
		delivery.FailRefused:    {"strip_new", "accept", "strip_all", "fail", "strip_new"},
		delivery.FailTooLarge:   {"evict", "accept", "evict", "evict", "fail"},
		delivery.FailUpload:     {"resend", "accept", "resend", "resend", "fail"},
		delivery.FailOverflow:   {"evict", "accept", "evict", "evict", "fail"},
		delivery.FailServer:     {"strip_new", "accept", "fail", "fail", "strip_new"},
		delivery.FailNetwork:    {"fail", "accept", "fail", "fail", "fail"},
		delivery.FailStream:     {"strip_new", "accept", "fail", "fail", "strip_new"},
		delivery.FailProtocol:   {"strip_new", "accept", "fail", "fail", "strip_new"},
		delivery.FailDropped:    {"replay", "replay", "replay", "replay", "replay"},
	}
	for _, k := range delivery.Failures() {
		row := want[k]
		if row == [5]string{} {
			t.Errorf("no row for %v", k)
			continue
		}
		for i, c := range columns {
			last := c.last
			last.Failure.Kind, last.Buffered = k, k == dropped
			if got := delivery.Next(append(c.before, last)).String(); got != row[i] {
				t.Errorf("%v, %s: %s, want %s", k, c.name, got, row[i])
			}
		}
	}
}

func TestNextSequences(t *testing.T) {
	const (
		plain, replay, stripNew, stripAll, evict = delivery.StepPlain, delivery.StepReplay, delivery.StepStripNew, delivery.StepStripAll, delivery.StepEvict

		refused, dropped, large = delivery.FailRefused, delivery.FailDropped, delivery.FailTooLarge
	)
	unbuffered := try(plain, 1, 1, dropped)
	unbuffered.Buffered = false
	tests := []struct {
		name     string
		attempts []delivery.Attempt
		want     string
	}{
		{"nothing was sent", nil, "fail"},
		{"no media: nothing to strip", []delivery.Attempt{try(plain, 0, 0, refused)}, "fail"},
		{"all new: all out at once", []delivery.Attempt{try(plain, 3, 3, refused)}, "strip_all"},
		{"and never again", []delivery.Attempt{try(plain, 3, 3, refused), try(stripAll, 0, 0, refused)}, "fail"},
		{"some new: first those", []delivery.Attempt{try(plain, 3, 1, refused)}, "strip_new"},
		{"then all", []delivery.Attempt{try(plain, 3, 1, refused), try(stripNew, 2, 0, refused)}, "strip_all"},
		{"then nothing", []delivery.Attempt{try(plain, 3, 1, refused), try(stripNew, 2, 0, refused), try(stripAll, 0, 0, refused)}, "fail"},
		{"none new and no words: the endpoint may have changed", []delivery.Attempt{try(plain, 3, 0, refused)}, "strip_all"},
		{"broke down on what was accepted before", []delivery.Attempt{try(plain, 3, 0, delivery.FailServer)}, "strip_all"},
		{"and without it", []delivery.Attempt{try(plain, 3, 0, delivery.FailServer), try(stripAll, 0, 0, delivery.FailServer)}, "fail"},
		{"broke off with what was accepted before", []delivery.Attempt{try(plain, 3, 0, delivery.FailStream)}, "fail"},
		{"broke off in the answer, with media of an earlier turn", []delivery.Attempt{old(began(try(plain, 3, 2, delivery.FailStream)))}, "strip_new"},
		{"the way broke", []delivery.Attempt{try(plain, 1, 1, delivery.FailUpload)}, "resend"},
		{"the way broke twice", []delivery.Attempt{try(plain, 1, 1, delivery.FailUpload), try(delivery.StepResend, 1, 1, delivery.FailUpload)}, "evict"},
		{"broke down on new media", []delivery.Attempt{try(plain, 2, 2, delivery.FailProtocol)}, "strip_all"},
		{"and without them", []delivery.Attempt{try(plain, 2, 2, delivery.FailServer), try(stripAll, 0, 0, delivery.FailServer)}, "fail"},
		{"broke off in the answer", []delivery.Attempt{began(try(plain, 2, 2, delivery.FailStream))}, "fail"},
		{"not reached", []delivery.Attempt{try(plain, 2, 2, delivery.FailNetwork)}, "fail"},
		{"lost after it was reached", []delivery.Attempt{reached(try(plain, 2, 2, delivery.FailNetwork))}, "strip_all"},
		{"none new, and words against media", []delivery.Attempt{worded(try(plain, 3, 0, refused), delivery.ClassBlind)}, "strip_all"},
		{"words change nothing where some are new", []delivery.Attempt{worded(try(plain, 3, 1, refused), delivery.ClassBlind)}, "strip_new"},
		{"dropped once", []delivery.Attempt{try(plain, 1, 1, dropped)}, "replay"},
		{"dropped twice", []delivery.Attempt{try(plain, 1, 1, dropped), try(replay, 1, 1, dropped)}, "replay"},
		{"dropped three times", []delivery.Attempt{try(plain, 1, 1, dropped), try(replay, 1, 1, dropped), try(replay, 1, 1, dropped)}, "accept"},
		{"dropped three times and no answer kept", []delivery.Attempt{unbuffered, unbuffered, unbuffered}, "fail"},
		{"a connection lost on a replay", []delivery.Attempt{try(plain, 1, 1, dropped), try(replay, 1, 1, delivery.FailNetwork)}, "accept"},
		{"a refusal of a replay", []delivery.Attempt{try(plain, 1, 1, dropped), try(replay, 1, 1, refused)}, "accept"},
		{"stopped on a replay", []delivery.Attempt{try(plain, 1, 1, dropped), try(replay, 1, 1, delivery.FailCancelled)}, "fail"},
		{"too large twice", []delivery.Attempt{try(plain, 3, 1, large), try(evict, 1, 1, delivery.FailUpload)}, "fail"},
		{"refused after an eviction", []delivery.Attempt{try(plain, 3, 1, large), try(evict, 1, 1, refused)}, "strip_all"},
		{"all steps there are", []delivery.Attempt{
			try(plain, 4, 1, large), try(evict, 3, 1, refused), try(stripNew, 2, 0, refused), try(stripAll, 0, 0, refused),
		}, "fail"},
		{"no seventh send", []delivery.Attempt{
			try(plain, 4, 2, large), try(evict, 3, 2, refused), try(stripNew, 1, 0, dropped), try(replay, 1, 0, dropped),
			try(plain, 1, 0, delivery.FailNone), try(replay, 1, 0, dropped),
		}, "accept"},
		{"no seventh send, and nothing kept", []delivery.Attempt{
			try(plain, 2, 2, large), try(plain, 2, 2, large), try(plain, 2, 2, large), try(plain, 2, 2, large), try(plain, 2, 2, large), try(plain, 2, 2, refused),
		}, "fail"},
		{"a kind that nobody knows", []delivery.Attempt{try(plain, 2, 2, delivery.FailureKind(99))}, "fail"},
	}
	for _, tt := range tests {
		if got := delivery.Next(tt.attempts).String(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// FuzzNext plays an agent against an endpoint that fails in any way.
func FuzzNext(f *testing.F) {
	f.Add([]byte{3, 1, byte(delivery.FailRefused), byte(delivery.FailRefused), byte(delivery.FailRefused)})
	f.Add([]byte{1, 1, byte(delivery.FailDropped), byte(delivery.FailDropped), byte(delivery.FailDropped)})
	f.Add([]byte{4, 2, byte(delivery.FailTooLarge), byte(delivery.FailRefused), byte(delivery.FailRefused), byte(delivery.FailDropped), byte(delivery.FailDropped), 1})
	f.Fuzz(func(t *testing.T, script []byte) {
		in := &reader{script}
		media := in.n(5)
		fresh := in.n(media + 1)
		step := delivery.StepPlain
		var tried []delivery.Attempt
		for {
			kind := delivery.Failures()[in.n(len(delivery.Failures()))]
			a := worded(try(step, media, fresh, kind), delivery.Class(in.n(9)))
			tried = append(tried, a)
			if len(tried) > delivery.MaxSends {
				t.Fatalf("%d sends", len(tried))
			}
			action := delivery.Next(tried)
			checkAction(t, tried, action)
			switch action {
			case delivery.ActFail, delivery.ActAccept:
				return
			case delivery.ActReplay:
				step = delivery.StepReplay
			case delivery.ActResend:
				step = delivery.StepResend
			case delivery.ActStripNew:
				step, media, fresh = delivery.StepStripNew, media-fresh, 0
			case delivery.ActStripAll:
				step, media, fresh = delivery.StepStripAll, 0, 0
			case delivery.ActEvict:
				step = delivery.StepEvict
			}
		}
	})
}

func checkAction(t *testing.T, tried []delivery.Attempt, action delivery.Action) {
	t.Helper()
	last := tried[len(tried)-1]
	drops, steps, kept := 0, [delivery.StepEvict + 1]int{}, false
	for _, a := range tried {
		steps[a.Step]++
		kept = kept || a.Buffered
		if a.Failure.Kind == delivery.FailDropped {
			drops++
		}
	}
	kind := last.Failure.Kind
	switch action {
	case delivery.ActFail:
		if kept && kind != delivery.FailCancelled {
			t.Errorf("%v gives up a kept answer", tried)
		}
	case delivery.ActAccept:
		if !kept {
			t.Errorf("%v accepts an answer that was not kept", tried)
		}
	case delivery.ActReplay:
		if kind != delivery.FailDropped || drops >= delivery.MaxDropped {
			t.Errorf("%v is replayed", tried)
		}
	case delivery.ActResend:
		if kind != delivery.FailUpload || steps[delivery.StepResend] > 0 {
			t.Errorf("%v is sent again", tried)
		}
	case delivery.ActStripNew, delivery.ActStripAll:
		if kind != delivery.FailRefused || last.Media == 0 || steps[delivery.StepStripAll] > 0 || action == delivery.ActStripNew && (last.Fresh == 0 || steps[delivery.StepStripNew] > 0) {
			t.Errorf("%v: %v", tried, action)
		}
	case delivery.ActEvict:
		if steps[delivery.StepEvict] > 0 {
			t.Errorf("%v evicts again", tried)
		}
	}
	if kind == delivery.FailCancelled && action != delivery.ActFail {
		t.Errorf("%v: %v after a cancellation", tried, action)
	}
}
