package cli

import "strings"

// expand fills the template of a custom command. The program itself is not an
// argument.
func expand(l *launch) []string {
	var out []string
	for _, arg := range l.command[1:] {
		switch {
		case repeated(arg) != nil:
			for _, f := range l.files {
				for _, a := range repeated(arg) {
					out = append(out, l.fill(a, f))
				}
			}
		case strings.Contains(arg, "{image}"):
			for _, f := range l.files {
				out = append(out, l.fill(arg, f))
			}
		case strings.Contains(arg, "{images}") && len(l.files) == 0:
		default:
			out = append(out, l.fill(arg, ""))
		}
	}
	return out
}

// repeated is the arguments of "[a {image} b]", nil for what is no group.
func repeated(arg string) []string {
	inner, ok := strings.CutPrefix(arg, "[")
	if !ok {
		return nil
	}
	if inner, ok = strings.CutSuffix(inner, "]"); !ok || !strings.Contains(inner, "{image}") {
		return nil
	}
	return strings.Fields(inner)
}

// fill puts values in place of the placeholders, in one pass: a value that holds
// a placeholder stays as it is.
func (l *launch) fill(arg, file string) string {
	return strings.NewReplacer(
		"{prompt}", l.prompt, "{prompt_file}", l.promptFile, "{image}", file, "{images}", strings.Join(l.files, ","),
		"{cwd}", l.dir, "{model}", l.model, "{mode}", string(l.mode),
	).Replace(arg)
}

// takes reports whether an argument of a custom command has the placeholder.
func (r *Runner) takes(placeholder string) bool {
	if r.spec.runner != Custom {
		return false
	}
	for _, arg := range r.o.Command[1:] {
		if strings.Contains(arg, placeholder) {
			return true
		}
	}
	return false
}
