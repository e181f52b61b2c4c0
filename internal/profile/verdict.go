package profile

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"tote/internal/content"
	"tote/internal/delivery"
)

// How long a verdict counts. A refusal is only a verdict once the request
// succeeded without what was taken out.
const (
	// LifeRefusedPicture is for the one picture that was new in a refused
	// request: it is the cause.
	LifeRefusedPicture = 30 * 24 * time.Hour
	// LifeSuspectedPicture is for each of several that were taken out
	// together: most of them are innocent.
	LifeSuspectedPicture = 24 * time.Hour
	// LifeDoubtedPicture is for a picture on which the backend broke down
	// instead of refusing it: it may have had another cause.
	LifeDoubtedPicture = time.Hour
	// LifeRefusedType is for a media type that the endpoint's own words
	// named: it stands for every picture of the type, so it is asked again
	// soon.
	LifeRefusedType = 24 * time.Hour
)

// smallestContext is the least learned context window, in tokens, that is
// believed: below it a number in an error was about something else, and no prompt
// would be left.
const smallestContext = 512

// Verdict is what one endpoint showed about one blob or one media type. Where
// Digest is zero, it is about MIME; a refused MIME may be a family, "image/*".
type Verdict struct {
	Digest content.Digest
	MIME   string
	// Accepted: the endpoint answered a request with it. Of a media type it
	// says nothing.
	Accepted bool
	// Reason is for people.
	Reason string
	// Until is when it stops counting; zero is never.
	Until time.Time
}

// RefusedPicture is the verdict on one of suspects blobs, all of which were new
// to an endpoint that refused them and answered without them.
func RefusedPicture(b content.Blob, reason string, suspects int, now time.Time) Verdict {
	life := LifeRefusedPicture
	if suspects > 1 {
		life = LifeSuspectedPicture
	}
	return Verdict{Digest: b.Digest, MIME: b.MIME, Reason: reason, Until: now.Add(life)}
}

// DoubtedPicture is the verdict on a blob with which a backend broke down, and
// without which it answered.
func DoubtedPicture(b content.Blob, reason string, now time.Time) Verdict {
	return Verdict{Digest: b.Digest, MIME: b.MIME, Reason: reason, Until: now.Add(LifeDoubtedPicture)}
}

// RefusedType is the verdict on a media type that an endpoint named when it
// refused it.
func RefusedType(mime, reason string, now time.Time) Verdict {
	return Verdict{MIME: mime, Reason: reason, Until: now.Add(LifeRefusedType)}
}

// Accepted is the verdict on a blob with which an endpoint has answered. It does
// not expire: should the endpoint refuse it later, that verdict replaces it.
func Accepted(b content.Blob) Verdict {
	return Verdict{Digest: b.Digest, MIME: b.MIME, Accepted: true}
}

// counts reports whether the verdict still says something.
func (v *Verdict) counts(now time.Time) bool {
	return (v.Until.IsZero() || now.Before(v.Until)) && (!v.Digest.IsZero() || v.MIME != "")
}

// Facts turns what was learned of an endpoint into the part of the facts that a
// decision takes from it: refused and proven blobs, refused media types, limits.
// Expired verdicts and limits that are not positive say nothing. A blob with
// verdicts both ways is refused.
func Facts(verdicts []Verdict, limits map[string]int64, now time.Time) delivery.Facts {
	var f delivery.Facts
	for i := range verdicts {
		v := &verdicts[i]
		switch {
		case !v.counts(now):
		case v.Digest.IsZero() && v.Accepted:
		case v.Digest.IsZero():
			f.RefusedMIMEs = put(f.RefusedMIMEs, strings.ToLower(v.MIME))
		case v.Accepted:
			f.Proven = put(f.Proven, v.Digest)
		default:
			f.Refused = put(f.Refused, v.Digest)
		}
	}
	for d := range f.Refused {
		delete(f.Proven, d)
	}
	f.MaxRequest = least(max(limits[delivery.LimitRequest], 0), max(limits[delivery.LimitDoubted], 0))
	f.MaxBytes = max(limits[delivery.LimitBytes], 0)
	f.MaxEdge, f.MaxCount = small(limits[delivery.LimitEdge]), small(limits[delivery.LimitCount])
	if c := small(limits[delivery.LimitContext]); c >= smallestContext {
		f.Context = c
	}
	return f
}

func put[K comparable](set map[K]bool, k K) map[K]bool {
	if set == nil {
		set = make(map[K]bool)
	}
	set[k] = true
	return set
}

// small brings a stored number into the range of every machine's int. What is
// not positive is no limit.
func small(n int64) int { return int(min(max(n, 0), math.MaxInt32)) }

// Row is one line of what was learned, for people.
type Row struct {
	// Subject is a short digest with its media type, or a media type.
	Subject string
	// Says is "accepted" or "refused".
	Says   string
	Reason string
	// Until is a date, or "no expiry".
	Until string
}

// Table lists verdicts for people: refused before accepted, media types before
// pictures, then by name. It shows expired ones too; the caller leaves out what
// it does not want.
func Table(verdicts []Verdict) []Row {
	sorted := slices.Clone(verdicts)
	slices.SortStableFunc(sorted, func(a, b Verdict) int {
		return cmp.Or(
			order(a.Accepted, b.Accepted),
			order(!a.Digest.IsZero(), !b.Digest.IsZero()),
			strings.Compare(a.MIME, b.MIME),
			slices.Compare(a.Digest[:], b.Digest[:]),
			a.Until.Compare(b.Until),
		)
	})
	rows := make([]Row, 0, len(sorted))
	for _, v := range sorted {
		r := Row{Subject: v.MIME, Says: "refused", Reason: v.Reason, Until: "no expiry"}
		if !v.Digest.IsZero() {
			r.Subject = strings.TrimSpace(v.Digest.Short() + " " + v.MIME)
		}
		if v.Accepted {
			r.Says = "accepted"
		}
		if !v.Until.IsZero() {
			r.Until = v.Until.UTC().Format(time.DateOnly)
		}
		rows = append(rows, r)
	}
	return rows
}

// order puts false before true.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
