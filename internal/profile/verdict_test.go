package profile_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/profile"
)

func blob(n byte) content.Blob { return content.Blob{Digest: content.Digest{n}, MIME: "image/png"} }

func TestFacts(t *testing.T) {
	picture := func(n byte) map[content.Digest]bool { return map[content.Digest]bool{{n}: true} }
	mimes := func(m string) map[string]bool { return map[string]bool{m: true} }
	refused := profile.RefusedPicture(blob(1), "r", 1, now)
	suspected := profile.RefusedPicture(blob(1), "r", 2, now)
	mime := profile.RefusedType("image/WebP", "r", now)
	accepted := profile.Accepted(blob(1))
	tests := []struct {
		name     string
		verdicts []profile.Verdict
		after    time.Duration
		want     delivery.Facts
	}{
		{"nothing", nil, 0, delivery.Facts{}},
		{"refused", []profile.Verdict{refused}, 30*day - 1, delivery.Facts{Refused: picture(1)}},
		{"refused, expired", []profile.Verdict{refused}, 30 * day, delivery.Facts{}},
		{"suspected", []profile.Verdict{suspected}, day - 1, delivery.Facts{Refused: picture(1)}},
		{"suspected, expired", []profile.Verdict{suspected}, day, delivery.Facts{}},
		{"type", []profile.Verdict{mime}, day - 1, delivery.Facts{RefusedMIMEs: mimes("image/webp")}},
		{"type, expired", []profile.Verdict{mime}, day, delivery.Facts{}},
		{"family", []profile.Verdict{{MIME: "image/*"}}, 0, delivery.Facts{RefusedMIMEs: mimes("image/*")}},
		{"accepted", []profile.Verdict{accepted}, 10_000 * day, delivery.Facts{Proven: picture(1)}},
		{"both ways", []profile.Verdict{accepted, refused}, 0, delivery.Facts{Refused: picture(1), Proven: map[content.Digest]bool{}}},
		{"after the refusal expired", []profile.Verdict{refused, accepted}, 31 * day, delivery.Facts{Proven: picture(1)}},
		{"accepted type", []profile.Verdict{{MIME: "image/png", Accepted: true}}, 0, delivery.Facts{}},
		{"about nothing", []profile.Verdict{{}, {Accepted: true}}, 0, delivery.Facts{}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, profile.Facts(tt.verdicts, nil, now.Add(tt.after))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestLearnedLimits(t *testing.T) {
	limits := map[string]int64{delivery.LimitBytes: 1, delivery.LimitEdge: 2, delivery.LimitCount: 3, delivery.LimitRequest: 4, delivery.LimitContext: 8192}
	got := profile.Facts(nil, limits, now)
	want := delivery.Facts{MaxBytes: 1, MaxEdge: 2, MaxCount: 3, MaxRequest: 4, Context: 8192}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%v (-want +got):\n%s", limits, diff)
	}
	wild := map[string]int64{
		delivery.LimitRequest: -1, delivery.LimitBytes: math.MinInt64, delivery.LimitEdge: math.MaxInt64, delivery.LimitCount: -5, delivery.LimitContext: 8, "?": 1,
	}
	want = delivery.Facts{MaxEdge: math.MaxInt32}
	if diff := cmp.Diff(want, profile.Facts(nil, wild, now)); diff != "" {
		t.Errorf("wild limits (-want +got):\n%s", diff)
	}
}

func TestTable(t *testing.T) {
	in := []profile.Verdict{
		profile.Accepted(blob(3)),
		profile.RefusedPicture(blob(2), "it could not be decoded", 1, now),
		profile.RefusedType("image/webp", "not taken", now),
		profile.RefusedPicture(blob(1), "one of two", 2, now),
	}
	want := []profile.Row{
		{Subject: "image/webp", Says: "refused", Reason: "not taken", Until: "2026-12-02"},
		{Subject: "010000000000 image/png", Says: "refused", Reason: "one of two", Until: "2026-12-02"},
		{Subject: "020000000000 image/png", Says: "refused", Reason: "it could not be decoded", Until: "2026-12-31"},
		{Subject: "030000000000 image/png", Says: "accepted", Until: "no expiry"},
	}
	if diff := cmp.Diff(want, profile.Table(in)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	in[0], in[3] = in[3], in[0]
	if diff := cmp.Diff(want, profile.Table(in)); diff != "" {
		t.Errorf("in another order (-want +got):\n%s", diff)
	}
	if got := profile.Table(nil); got == nil || len(got) != 0 {
		t.Errorf("table of nothing: %#v", got)
	}
}
