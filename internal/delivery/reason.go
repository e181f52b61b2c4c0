package delivery

import "strconv"

// Reason is why a block got its disposition. Each has a sentence for the user
// and, where the block is replaced, one for the model.
type Reason uint8

// The reasons. The zero value is not a reason.
const (
	_                     Reason = iota
	ReasonFits                   // nothing stood in the way
	ReasonBlank                  // text without a visible character
	ReasonPrepared               // the picture was prepared on the way in
	ReasonPathLimit              // this path takes only smaller ones
	ReasonFormat                 // this path does not take the format
	ReasonTextForm               // sent as text
	ReasonLink                   // a link: its name and address
	ReasonNoImages               // the model takes no pictures
	ReasonNoAudio                // the model takes no sound
	ReasonNoDocuments            // the model takes no documents
	ReasonUnknownModel           // not known whether the model takes pictures
	ReasonUserOff                // the user's configuration says no
	ReasonBinary                 // not a form that any model takes
	ReasonUnknownKind            // a block kind that nobody here knows
	ReasonTextTooLong            // longer than text is inlined
	ReasonPictureTooLarge        // over the size of one picture on this path
	ReasonPathSize               // a recording or document over the limits of this path
	ReasonTooManyPixels          // never decoded whole
	ReasonHistoryBudget          // older media gave way in the history budget
	ReasonCountLimit             // the path takes fewer per request
	ReasonRequestSize            // the request would be too large
	ReasonContextSize            // the context would be too long
	ReasonEmpty                  // no bytes
	ReasonBadPayload             // unreadable payload
	ReasonDamaged                // does not decode to its end
	ReasonTooLarge               // over the cap of an attachment
	ReasonUnreadable             // the file could not be read
	ReasonNotFound               // no such file
	ReasonDenied                 // outside the roots and not permitted
	ReasonUnsupported            // recognised, nothing decodes it
	ReasonEncrypted              // needs a password
	ReasonMissing                // its bytes are gone from the store
	ReasonPrepareFailed          // a variant could not be cut
	ReasonEndpointRefused        // this endpoint refused it before
	ReasonTurnRefused            // taken out after a refusal in this turn
	ReasonDescribed              // another model's words
	ReasonDetached               // the user took it out
	ReasonSummarised             // a summary stands for its turn
	ReasonTrimmed                // old tool output without its middle
)

// The texts of one reason. Name is its code in receipts and databases; User and
// Model are sentences without a full stop. Model is empty where the block
// itself is sent.
type reasonText struct{ Name, User, Model string }

var reasonTexts = [...]reasonText{
	ReasonFits:            {"fits", "sent as it is", ""},
	ReasonBlank:           {"blank", "the text is blank, so there is nothing to send", ""},
	ReasonPrepared:        {"prepared", "prepared for sending", ""},
	ReasonPathLimit:       {"path_limit", "cut to what this backend takes", ""},
	ReasonFormat:          {"format", "converted to a format that this backend takes", ""},
	ReasonTextForm:        {"text_form", "sent as text", ""},
	ReasonLink:            {"link", "the link's name and address were sent", ""},
	ReasonNoImages:        {"no_images", "the chosen model takes no pictures", "you cannot see pictures"},
	ReasonNoAudio:         {"no_audio", "the chosen model is not known to take sound of this kind", "it is not known that you can hear sound of this kind"},
	ReasonNoDocuments:     {"no_documents", "the chosen model is not known to take such documents", "you cannot take this document as it is"},
	ReasonUnknownModel:    {"unknown_model", "it is not known whether this model takes pictures; set \"vision\" for the agent, or run tote probe", "it is not known whether you can see pictures"},
	ReasonUserOff:         {"user_off", "the agent's configuration turns pictures off (\"vision\": false)", "the user turned pictures off"},
	ReasonBinary:          {"binary", "no model takes this kind of file", "this kind of file cannot be shown to you"},
	ReasonUnknownKind:     {"unknown_kind", "this kind of block is not known here; it was kept and not guessed at", "this kind of content cannot be shown to you"},
	ReasonTextTooLong:     {"text_too_long", "the text is longer than is put into a prompt", "the text is too long to stand here"},
	ReasonPictureTooLarge: {"picture_too_large", "the picture is larger than this backend takes", "the picture is too large to be sent to you"},
	ReasonPathSize:        {"path_size", "it is larger than this backend takes", "it is too large to be sent to you"},
	ReasonTooManyPixels:   {"too_many_pixels", "the picture has more than 50 megapixels and is never decoded whole", "the picture has too many pixels to be shown"},
	ReasonHistoryBudget:   {"history_budget", "older attachments gave way to the budget for history", "it was shown earlier and is no longer in view"},
	ReasonCountLimit:      {"count_limit", "the backend takes fewer attachments in one request", "it was left out because too many were attached"},
	ReasonRequestSize:     {"request_size", "the request would have been too large", "it was left out to keep the request small enough"},
	ReasonContextSize:     {"context_size", "the model's context would have been too long", "it was left out to keep the context short enough"},
	ReasonEmpty:           {"empty", "it holds no bytes", "it is empty"},
	ReasonBadPayload:      {"bad_payload", "its payload cannot be read", "its payload could not be read"},
	ReasonDamaged:         {"damaged", "it is damaged and does not decode to its end", "the file is damaged"},
	ReasonTooLarge:        {"too_large", "it is over the size limit of an attachment", "it is over the size limit"},
	ReasonUnreadable:      {"unreadable", "the file could not be read", "the file could not be read"},
	ReasonNotFound:        {"not_found", "there is no such file", "there is no such file"},
	ReasonDenied:          {"denied", "it lies outside the project and reading it was not permitted", "reading it was not permitted"},
	ReasonUnsupported:     {"unsupported", "nothing on this machine decodes this format", "its format cannot be decoded here"},
	ReasonEncrypted:       {"encrypted", "it is encrypted", "it is encrypted"},
	ReasonMissing:         {"missing", "its stored bytes are gone or damaged", "its bytes are no longer available"},
	ReasonPrepareFailed:   {"prepare_failed", "it could not be prepared for this backend", "it could not be prepared for you"},
	ReasonEndpointRefused: {"endpoint_refused", "this backend refused it before; tote probe forgets that and asks anew", "the backend did not accept it"},
	ReasonTurnRefused:     {"turn_refused", "the backend refused the request with it, so it was taken out for this turn", "the backend did not accept it"},
	ReasonDescribed:       {"described", "another model described it", "described by another model"},
	ReasonDetached:        {"detached", "you took it out of the conversation", "the user took it out of the conversation"},
	ReasonSummarised:      {"summarised", "a summary stands for this part of the conversation", "it is no longer in view"},
	ReasonTrimmed:         {"trimmed", "old tool output gave way; its beginning and its end were sent", ""},
}

func (r Reason) valid() bool { return r > 0 && int(r) < len(reasonTexts) }

// String is the code of the reason.
func (r Reason) String() string {
	if r.valid() {
		return reasonTexts[r].Name
	}
	return "reason(" + strconv.Itoa(int(r)) + ")"
}

// User is a sentence for the user, without a full stop.
func (r Reason) User() string {
	if int(r) < len(reasonTexts) {
		return reasonTexts[r].User
	}
	return ""
}

// Model is a sentence for the model, "" where the block itself is sent.
func (r Reason) Model() string {
	if int(r) < len(reasonTexts) {
		return reasonTexts[r].Model
	}
	return ""
}

// unseen reports whether the reason lies in the path and not in the picture, so
// that someone else may be able to look.
func (r Reason) unseen() bool {
	return r == ReasonNoImages || r == ReasonUserOff || r == ReasonUnknownModel || r == ReasonEndpointRefused
}

// passed reports whether the model could see the block before it gave way.
func (r Reason) passed() bool {
	return r == ReasonSummarised || r == ReasonHistoryBudget || r == ReasonCountLimit || r == ReasonRequestSize || r == ReasonContextSize
}

// Reasons lists all of them.
func Reasons() []Reason {
	out := make([]Reason, 0, len(reasonTexts)-1)
	for i := 1; i < len(reasonTexts); i++ {
		out = append(out, Reason(i))
	}
	return out
}
