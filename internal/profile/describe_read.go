package profile

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"tote/internal/delivery"
)

// maxAnswer bounds the answers that are read, in bytes. The longest list, that
// of a router with hundreds of models, has about one megabyte.
const maxAnswer = 8 << 20

// Read reads the answer to a query. It is false where nothing is said of the
// model. What has another type than expected says nothing.
func Read(q Query, answer []byte) (Said, bool) {
	var v any
	if len(answer) > maxAnswer || json.Unmarshal(answer, &v) != nil {
		return Said{}, false
	}
	var s Said
	switch q.Name {
	case askShow:
		s = readShow(v)
	case askProps:
		s = readProps(v)
	case askModel:
		if entry, ok := object(v); ok && isModel(entry, q.Model) {
			s = readEntry(entry)
		}
	case AskModels, askStudio, askOldStudio:
		for _, entry := range entries(v, q.Model) {
			s = s.With(readEntry(entry))
			if q.Name == askOldStudio {
				s = s.With(readType(entry))
			}
		}
	}
	if q.Root {
		// Beside its own protocol nobody can tell such a server a window. It
		// runs with one of its own, which may be far below what the model was
		// trained for.
		s.Context = 0
	}
	if s.IsZero() {
		return Said{}, false
	}
	if s.Images != delivery.Unknown || s.Audio != delivery.Unknown || s.Documents != delivery.Unknown {
		s.Detail = "its answer to " + q.Name
	}
	return s, true
}

// entries are the entries of a list of models that are about model.
func entries(v any, model string) []map[string]any {
	lists := [][]any{array(v)}
	if o, ok := object(v); ok {
		lists = [][]any{array(o["data"]), array(o["models"])}
	}
	var out []map[string]any
	for _, list := range lists {
		for _, e := range list {
			if entry, ok := object(e); ok && names(entry, model) {
				out = append(out, entry)
			}
		}
	}
	return out
}

// names reports whether an entry of a list is that of exactly this model.
func names(entry map[string]any, model string) bool {
	for _, member := range [...]string{"id", "key", "model", "name"} {
		if name := text(entry[member]); name != "" {
			if name == model {
				return true
			}
			break // what else it is called is for people
		}
	}
	for _, i := range array(entry["loaded_instances"]) {
		if o, ok := object(i); ok && text(o["id"]) == model {
			return true
		}
	}
	return false
}

// isModel reports whether an answer is about the model that was asked for: under
// its name, or under that of the dated model for which it stands.
func isModel(o map[string]any, model string) bool {
	if id := text(o["id"]); id != "" {
		return id == model || strings.HasPrefix(id, model+"-")
	}
	name := text(o["name"])
	return name == model || name == "models/"+model
}

// Where in an entry an answer may stand, as paths of members.
var (
	pathsInputs  = []string{"architecture.input_modalities", "input_modalities", "modalities.input"}
	pathsVision  = []string{"capabilities.vision", "capabilities.supports.vision", "capabilities.image_input.supported"}
	pathsAudio   = []string{"capabilities.audio"}
	pathsPDF     = []string{"capabilities.pdf_input.supported"}
	pathsContext = []string{
		"capabilities.limits.max_prompt_tokens", "capabilities.limits.max_context_window_tokens", "max_input_tokens",
		"inputTokenLimit", "top_provider.context_length", "context_length", "context_window", "max_context_length",
	}
	pathsWindow = []string{"max_model_len", "loaded_context_length", "meta.n_ctx"}
	pathsOutput = []string{
		"capabilities.limits.max_output_tokens", "top_provider.max_completion_tokens", "max_completion_tokens", "max_output_tokens",
		"outputTokenLimit", "max_tokens",
	}
	pathsCount = []string{"capabilities.limits.vision.max_prompt_images"}
	pathsBytes = []string{"capabilities.limits.vision.max_prompt_image_size"}
	pathsTypes = []string{"capabilities.limits.vision.supported_media_types"}
)

// readEntry reads what servers of several makes say of a model in their lists.
func readEntry(e map[string]any) Said {
	s := Said{
		Images: firstBool(e, pathsVision), Audio: firstBool(e, pathsAudio), Documents: firstBool(e, pathsPDF),
		Context: firstNumber(e, pathsContext), Window: firstNumber(e, pathsWindow), Output: firstNumber(e, pathsOutput),
		MaxImages: firstNumber(e, pathsCount), ImageBytes: firstNumber(e, pathsBytes),
	}
	for _, p := range pathsInputs {
		if in, ok := words(dig(e, p)); ok {
			s = s.With(Said{Images: listed(in, "image"), Audio: listed(in, "audio"), Documents: listed(in, "file", "pdf")})
		}
	}
	// llama.cpp, and what speaks like Ollama: only a list that names what every
	// model can do is a whole one.
	if can, ok := words(e["capabilities"]); ok && slices.Contains(can, "completion") {
		s = s.With(Said{Images: listed(can, "vision", "multimodal")})
	}
	for _, p := range pathsTypes {
		if types, ok := words(dig(e, p)); ok {
			s.MIMEs = slices.DeleteFunc(types, func(t string) bool { return !strings.HasPrefix(t, "image/") })
		}
	}
	for _, i := range array(e["loaded_instances"]) { // the smallest window that is loaded
		s.Window = least(s.Window, number(dig(i, "config.context_length")))
	}
	return s
}

// readType reads the "type" of LM Studio's older list, which is closed.
func readType(e map[string]any) Said {
	switch text(e["type"]) {
	case "vlm":
		return Said{Images: delivery.Yes}
	case "llm":
		return Said{Images: delivery.No}
	}
	return Said{}
}

// readShow reads Ollama's description of a model.
func readShow(v any) Said {
	o, ok := object(v)
	if !ok {
		return Said{}
	}
	var s Said
	if can, ok := words(o["capabilities"]); ok && slices.Contains(can, "completion") {
		s.Images, s.Audio = listed(can, "vision"), listed(can, "audio")
	}
	info, _ := object(o["model_info"])
	if arch := text(info["general.architecture"]); arch != "" {
		s.Context = number(info[arch+".context_length"])
	}
	for line := range strings.Lines(text(o["parameters"])) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "num_ctx" {
			if n, err := strconv.Atoi(f[1]); err == nil && n > 0 && n <= maxNumber {
				s.Window = n
			}
		}
	}
	return s
}

// readProps reads llama.cpp's description of itself. It runs one model, which
// answers under any name.
func readProps(v any) Said {
	o, ok := object(v)
	if !ok {
		return Said{}
	}
	s := Said{
		Images: answerOf(dig(o, "modalities.vision")), Audio: answerOf(dig(o, "modalities.audio")),
		Window: number(dig(o, "default_generation_settings.n_ctx")),
	}
	return s
}

// maxNumber is the largest number that is believed, in tokens or bytes.
const maxNumber = 1 << 30

func object(v any) (map[string]any, bool) {
	o, ok := v.(map[string]any)
	return o, ok
}

func array(v any) []any {
	a, _ := v.([]any)
	return a
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// number is a positive whole number, 0 for anything else.
func number(v any) int {
	f, ok := v.(float64)
	if !ok || f < 1 || f > maxNumber || f != float64(int(f)) {
		return 0
	}
	return int(f)
}

func answerOf(v any) delivery.Answer {
	switch v {
	case true:
		return delivery.Yes
	case false:
		return delivery.No
	}
	return delivery.Unknown
}

// words are the members of a list of strings, in lower case. A list of something
// else is none.
func words(v any) ([]string, bool) {
	a, ok := v.([]any)
	if !ok {
		return nil, false
	}
	out := make([]string, 0, len(a))
	for _, e := range a {
		s, ok := e.(string)
		if !ok {
			return nil, false
		}
		out = append(out, strings.ToLower(s))
	}
	return out, len(out) > 0
}

// listed is yes where a whole list holds one of the words, else no.
func listed(list []string, any ...string) delivery.Answer {
	for _, w := range any {
		if slices.Contains(list, w) {
			return delivery.Yes
		}
	}
	return delivery.No
}

// dig follows a path of members.
func dig(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		o, ok := object(v)
		if !ok {
			return nil
		}
		v = o[name]
	}
	return v
}

func firstBool(v any, paths []string) delivery.Answer {
	for _, p := range paths {
		if a := answerOf(dig(v, p)); a != delivery.Unknown {
			return a
		}
	}
	return delivery.Unknown
}

func firstNumber(v any, paths []string) int {
	for _, p := range paths {
		if n := number(dig(v, p)); n > 0 {
			return n
		}
	}
	return 0
}
