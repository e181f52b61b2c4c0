package app

import (
	"time"

	"tote/internal/config"
	"tote/internal/provider/offline"
)

// faults hands the configured faults of the offline backend over.
func faults(f config.Faults) offline.Faults {
	out := offline.Faults{
		RefuseImages: offline.Refusal{Status: f.RefuseImages.Status, Message: f.RefuseImages.Message},
		CutAfter:     int64(f.CutStreamAfter), TooLargeOver: int64(f.TooLargeOver), Slow: time.Duration(f.Slow),
		Status: offline.Status{Code: f.Status.Code, Body: f.Status.Body, Times: f.Status.Times},
	}
	switch f.ImageTokens {
	case config.ImageTokensZero:
		out.ImageTokens = offline.TokensZero
	case config.ImageTokensNone:
		out.ImageTokens = offline.TokensAbsent
	case config.ImageTokensReport, "":
		out.ImageTokens = offline.TokensTrue
	}
	for _, c := range f.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, offline.ToolCall{Name: c.Name, Arguments: string(c.Arguments)})
	}
	return out
}
