package slash

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tote/internal/content"
	"tote/internal/tool"
)

// jobTitle is how long a job's title gets, in runes.
const jobTitle = 60

func (w World) job(ctx context.Context, c Call) (Outcome, error) {
	if w.Jobs == nil {
		return Outcome{}, fmt.Errorf("/job: %w", errNotHere)
	}
	name, prompt := w.Session.Stored().Agent, c.Args
	if rest, ok := strings.CutPrefix(prompt, "--agent"); ok {
		fields := strings.Fields(rest)
		if len(fields) == 0 {
			return Outcome{}, errors.New("/job: --agent needs the name of an agent")
		}
		name = fields[0]
		prompt = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(rest), name))
	}
	if prompt == "" && len(c.Staged) == 0 {
		return Outcome{}, errors.New("/job: say what it is to do: /job [--agent NAME] PROMPT")
	}
	sources := c.Staged
	if prompt != "" {
		sources = append([]content.Source{{
			Payload: content.Prose{Text: prompt}, Inlet: content.InletPrompt, Chooser: content.ChosenByUser, As: content.KindText,
		}}, c.Staged...)
	}
	title := []rune(content.Clean(strings.Join(strings.Fields(prompt), " ")))
	if len(title) > jobTitle {
		title = append(title[:jobTitle-1], '…')
	}
	id, err := w.Jobs.Start(ctx, w.Session, name, string(title), sources)
	if err != nil {
		return Outcome{}, fmt.Errorf("/job: %w", err)
	}
	return Outcome{Job: id, Text: id + " runs in the background on " + name + "; /jobs says how far it is\n"}, nil
}

func (w World) jobs(ctx context.Context, c Call) (Outcome, error) {
	if w.Jobs == nil {
		return Outcome{}, fmt.Errorf("/jobs: %w", errNotHere)
	}
	fields := strings.Fields(c.Args)
	if n := len(fields); n > 0 && strings.Trim(fields[n-1], "0123456789") == "" {
		fields[n-1] = "job-" + fields[n-1]
	}
	session := w.Session.ID()
	switch {
	case len(fields) == 2 && fields[0] == "stop":
		if err := w.Jobs.StopJob(ctx, session, fields[1]); err != nil {
			return Outcome{}, fmt.Errorf("/jobs: %w", err)
		}
		return Outcome{Text: content.Clean(fields[1]) + " is stopped\n"}, nil
	case len(fields) == 2 && fields[0] == "wait":
		j, err := w.Jobs.WaitJob(ctx, session, fields[1])
		if err != nil {
			return Outcome{}, fmt.Errorf("/jobs: %w", err)
		}
		return Outcome{Text: jobLine(j) + j.Report + "\n"}, nil
	case len(fields) > 1:
		return Outcome{}, errors.New("/jobs: want /jobs, /jobs ID, /jobs stop ID or /jobs wait ID")
	}
	all, err := w.Jobs.Jobs(ctx, session)
	if err != nil {
		return Outcome{}, fmt.Errorf("/jobs: %w", err)
	}
	var sb strings.Builder
	for _, j := range all {
		switch {
		case len(fields) == 0:
			sb.WriteString(jobLine(j))
		case j.ID == fields[0]:
			return Outcome{Text: jobLine(j) + j.Report + "\n"}, nil
		}
	}
	switch {
	case len(fields) == 1:
		return Outcome{}, fmt.Errorf("/jobs: there is no job %q in this session", content.Clean(fields[0]))
	case sb.Len() == 0:
		sb.WriteString("there are no jobs in this session\n")
	}
	return Outcome{Text: sb.String()}, nil
}

func jobLine(j tool.JobState) string {
	s := fmt.Sprintf("%-8s %-12s %-16s %s", j.ID, j.State, j.Agent, j.Title)
	if !j.Ended.IsZero() {
		s += fmt.Sprintf("  (%s)", j.Ended.Sub(j.Started).Round(100_000_000))
	}
	return s + "\n"
}
