package delivery

// FailureKind is what went wrong with one sending of a request.
type FailureKind uint8

// The failure kinds. The zero value is no failure.
const (
	FailNone       FailureKind = iota
	FailCancelled              // the user stopped it
	FailAuth                   // 401: who are you
	FailBilling                // 402: no money
	FailPermission             // 403: not allowed
	FailRateLimit              // 429, after the transport's retries
	FailSchema                 // the request's shape is wrong: our mistake
	FailRefused                // any other 4xx, a known 5xx, an error inside a 200
	FailTooLarge               // 413, or words that say the body is too large
	FailUpload                 // reset or broken pipe while sending the body
	FailOverflow               // more tokens than the context holds
	FailServer                 // 5xx, after the transport's retries
	FailNetwork                // no connection, after the transport's retries
	FailStream                 // the answer broke off
	FailProtocol               // an answer that cannot be read
	FailDropped                // answered, but accounts for zero image tokens
)

var failureNames = [...]string{
	"none", "cancelled", "auth", "billing", "permission", "rate_limit", "schema", "refused", "too_large", "upload",
	"overflow", "server", "network", "stream", "protocol", "dropped",
}

func (k FailureKind) String() string {
	if int(k) < len(failureNames) {
		return failureNames[k]
	}
	return "failure?"
}

// Failures lists the kinds, FailNone left out.
func Failures() []FailureKind {
	out := make([]FailureKind, 0, len(failureNames)-1)
	for i := 1; i < len(failureNames); i++ {
		out = append(out, FailureKind(i))
	}
	return out
}

// Class refines a refusal by its wording. It is never needed for recovery.
type Class uint8

// The classes.
const (
	ClassUnknown   Class = iota
	ClassBlind           // the model or endpoint takes no pictures at all
	ClassBytes           // a picture has too many bytes
	ClassEdge            // a picture has too many pixels on a side
	ClassCount           // too many pictures
	ClassMIME            // a media type is not taken, or does not match
	ClassDecode          // a picture cannot be decoded
	ClassPlacement       // pictures may not stand there
	ClassBody            // the whole request is too large
	ClassForm            // the request says something wrong about a picture: our mistake
	ClassReasoning       // a model's own thinking is not taken back
)

// Learned are the numbers that an error named, 0 for none.
type Learned struct {
	MaxBytes   int64
	MaxEdge    int
	MaxCount   int
	MaxRequest int64
	// Context is the context window in tokens.
	Context int
}

// The names under which learned limits are kept.
const (
	LimitRequest = "max_request" // bytes of a body
	LimitBytes   = "max_bytes"   // bytes of a picture before base64
	LimitEdge    = "max_edge"    // pixels of a picture's longest side
	LimitCount   = "max_count"   // pictures in a request
	LimitContext = "context"     // tokens of the context window
	// LimitDoubted is as LimitRequest, of a size at which only the connection
	// broke.
	LimitDoubted = "doubted_request"
)

// Failure is how one sending went wrong.
type Failure struct {
	Kind    FailureKind
	Status  int
	Class   Class
	Learned Learned
	// Reached: the connection went after the backend had begun to take the
	// request. It is said of FailNetwork only.
	Reached bool
}

// Step is what one sending tried.
type Step uint8

// The steps.
const (
	StepPlain    Step = iota // the request as decided
	StepReplay               // the same bytes again, after a dropped picture
	StepResend               // the same bytes again, after the way broke
	StepStripNew             // without the media that are new to this endpoint
	StepStripAll             // without any media
	StepEvict                // with less history, after too large or overflow
)

// Attempt is one sending of a request.
type Attempt struct {
	Step Step
	// Media counts the media parts it carried, Fresh those that were new to
	// the endpoint.
	Media, Fresh int
	// Old: some of the new media stand in an earlier turn, in which nothing
	// was answered with them.
	Old bool
	// Failure is zero for an attempt that was answered well.
	Failure Failure
	// Buffered: a whole answer arrived and is kept.
	Buffered bool
	// Began: some of the answer had arrived when it failed.
	Began bool
}

// Action is what to do after a failure.
type Action uint8

// The actions. The zero value gives up, so a forgotten case fails closed.
const (
	// ActFail ends the turn with the first error.
	ActFail Action = iota
	// ActAccept takes the newest buffered answer.
	ActAccept
	// ActReplay sends the same bytes again, for an answer that saw the picture.
	ActReplay
	// ActResend sends the same bytes again, since they did not arrive.
	ActResend
	// ActStripNew takes out the media that are new to the endpoint.
	ActStripNew
	// ActStripAll takes out all media.
	ActStripAll
	// ActEvict sends less history.
	ActEvict
)

func (a Action) String() string {
	switch a {
	case ActFail:
		return "fail"
	case ActAccept:
		return "accept"
	case ActReplay:
		return "replay"
	case ActResend:
		return "resend"
	case ActStripNew:
		return "strip_new"
	case ActStripAll:
		return "strip_all"
	case ActEvict:
		return "evict"
	}
	return "action?"
}

const (
	// MaxSends is how often one request is sent at most, in all.
	MaxSends = 6
	// MaxDropped is how often a request is sent whose picture was dropped.
	MaxDropped = 3
)

// Next says what to do after the last of attempts failed. It is the only place
// where recovery is decided.
func Next(attempts []Attempt) Action {
	if len(attempts) == 0 {
		return ActFail
	}
	last := attempts[len(attempts)-1]
	fallback := ActFail
	for _, a := range attempts {
		if a.Buffered {
			fallback = ActAccept
		}
	}
	if last.Failure.Kind == FailCancelled {
		return ActFail
	}
	if len(attempts) >= MaxSends {
		return fallback
	}
	switch last.Failure.Kind {
	case FailDropped:
		if count(attempts, FailDropped) < MaxDropped {
			return ActReplay
		}
		return fallback
	case FailRefused:
		if fallback == ActAccept {
			return ActAccept
		}
		return afterRefusal(attempts, last)
	case FailTooLarge, FailUpload, FailOverflow:
		if fallback == ActFail && last.Failure.Kind == FailUpload && !stepped(attempts, StepResend) && !stepped(attempts, StepEvict) {
			return ActResend // a connection breaks for many reasons; twice is a sign
		}
		if fallback == ActFail && !stepped(attempts, StepEvict) {
			return ActEvict
		}
		return fallback
	case FailServer, FailNetwork, FailStream, FailProtocol:
		if fallback == ActFail && brokeOnMedia(attempts, last) {
			return strip(last)
		}
		return fallback
	case FailNone, FailCancelled, FailAuth, FailBilling, FailPermission, FailRateLimit, FailSchema:
		return fallback
	}
	return ActFail
}

// afterRefusal takes out what is new to the endpoint, then all. Where everything
// was accepted before, the endpoint may have changed (a server that was loaded
// again without its vision part): one try without any of it tells.
func afterRefusal(attempts []Attempt, last Attempt) Action {
	switch {
	case last.Media == 0 || stepped(attempts, StepStripAll):
		return ActFail
	case stepped(attempts, StepStripNew):
		return ActStripAll
	}
	return strip(last)
}

// strip takes out the media that are new where there are others, else all.
func strip(last Attempt) Action {
	if last.Fresh > 0 && last.Fresh < last.Media {
		return ActStripNew
	}
	return ActStripAll
}

// brokeOnMedia reports whether media may be why a backend broke down. One try
// without them tells. A backend that was not reached broke for another reason, and
// one that had begun to answer most probably did, unless the media were sent in an
// earlier turn already, to which there was no answer either: then no turn would
// ever get through. With media that were taken before, only an error of the
// server's own counts: it may have been loaded again without the part that sees.
func brokeOnMedia(attempts []Attempt, last Attempt) bool {
	switch {
	case last.Media == 0 || stepped(attempts, StepStripNew) || stepped(attempts, StepStripAll):
		return false
	case last.Fresh == 0:
		return last.Failure.Kind == FailServer && !last.Began
	case last.Began && !last.Old:
		return false
	}
	return last.Failure.Kind != FailNetwork || last.Failure.Reached
}

func count(attempts []Attempt, k FailureKind) int {
	n := 0
	for _, a := range attempts {
		if a.Failure.Kind == k {
			n++
		}
	}
	return n
}

func stepped(attempts []Attempt, s Step) bool {
	for _, a := range attempts {
		if a.Step == s {
			return true
		}
	}
	return false
}
