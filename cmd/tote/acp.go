package main

import (
	"context"

	"tote/internal/front/headless"
)

func cmdACP(_ context.Context, e environment, _ []string) int {
	say(e.stderr, "tote acp: wired next")
	return headless.ExitFailed
}
