package provider_test

import (
	"errors"
	"testing"
	"time"

	"tote/internal/provider"
	"tote/internal/provider/providertest"
)

// A wait that ends on another day is told with its date.
func TestRetryAfterOfDays(t *testing.T) {
	for after, want := range map[string]string{
		"3600":                          "try again after 15:00:00, or choose another model",
		"43200":                         "try again after 2026-01-03 02:00:00, or choose another model",
		"259200":                        "try again after 2026-01-05 14:00:00, or choose another model",
		"Mon, 05 Jan 2026 14:00:00 GMT": "try again after 2026-01-05 14:00:00, or choose another model",
	} {
		rec := providertest.NewRecorder(t, providertest.Status(429, "{}", "Retry-After", after))
		o := options(rec.URL)
		o.Now = func() time.Time { return time.Date(2026, 1, 2, 14, 0, 0, 0, time.UTC) }
		_, err := collect(provider.NewClient(o).Stream(t.Context(), "x", literal("{}"), readNothing))
		var e *provider.Error
		if !errors.As(err, &e) || e.Hint != want {
			t.Errorf("Retry-After %s: %+v", after, e)
		}
	}
}
