package delivery

import (
	"strconv"
	"strings"

	"tote/internal/content"
)

// alike is how many equal notices are told one by one.
const alike = 3

// Notices tells the user about receipts that are less than the block itself.
// More than three alike become one line with a count and the first labels.
func Notices(rs []Receipt) []Notice {
	type key struct {
		kind content.Kind
		d    Disposition
		r    Reason
	}
	var order []key
	groups := map[key][]Receipt{}
	for _, r := range rs {
		if !r.Degraded() {
			continue
		}
		k := key{r.Kind, r.Disposition, r.Reason}
		if len(groups[k]) == 0 {
			order = append(order, k)
		}
		groups[k] = append(groups[k], r)
	}
	var out []Notice
	for _, k := range order {
		g := groups[k]
		if len(g) > alike {
			var first []string
			for _, r := range g[:alike] {
				first = append(first, string(r.Handle))
			}
			out = append(out, Notice{
				Severity: SeverityWarning,
				Title:    strconv.Itoa(len(g)) + noun(k.kind) + strings.Join(first, ", ") + ", …): " + g[0].fate(),
				Detail:   k.r.User(),
			})
			continue
		}
		for _, r := range g {
			out = append(out, r.Notice())
		}
	}
	return out
}

// Notice is the receipt as a line for the user.
func (r Receipt) Notice() Notice {
	title := string(r.Handle)
	if r.Name != "" {
		title += " (" + content.Clean(r.Name) + ")"
	}
	detail := r.Reason.User()
	if r.Detail != "" {
		detail += ": " + content.Clean(r.Detail)
	}
	n := Notice{Severity: SeverityInfo, Title: title + ": " + r.fate(), Detail: detail}
	if r.Degraded() {
		n.Severity = SeverityWarning
	}
	return n
}

func noun(k content.Kind) string {
	if k == content.KindText {
		return " texts ("
	}
	return " attachments ("
}

// fate is what becomes of the receipt's block.
func (r Receipt) fate() string {
	if r.Reason == ReasonTrimmed {
		return "goes to the model without its middle"
	}
	return fate(r.Disposition)
}

// fate says in words what becomes of a block. It is said before the request is
// sent, so it claims no delivery.
func fate(d Disposition) string {
	switch d {
	case Inline:
		return "goes to the model as it is"
	case Shrunk:
		return "goes to the model as a smaller copy"
	case Converted:
		return "goes to the model in another form"
	case Described:
		return "goes to the model as another model's description"
	case Path:
		return "is not shown to the model, which gets the path of its file"
	case Placeholder:
		return "is not shown; the model is told so"
	case Stripped:
		return "is taken out of this turn"
	case Refused:
		return "is not sent"
	}
	return "?"
}
