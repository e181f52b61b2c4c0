package agenttest

import (
	"context"
	"strings"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/delivery"
)

// Facts implements agent.EndpointMemory.
func (d *Disk) Facts(_ context.Context, endpoint string) (delivery.Facts, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := delivery.Facts{Refused: map[content.Digest]bool{}, Proven: map[content.Digest]bool{}, RefusedMIMEs: map[string]bool{}}
	for digest, v := range d.verdicts[endpoint] {
		if v.Accepted {
			f.Proven[digest] = true
			continue
		}
		f.Refused[digest] = true
	}
	for mime := range d.mimes[endpoint] {
		f.RefusedMIMEs[mime] = true
	}
	l := d.limits[endpoint]
	f.Context = int(l[delivery.LimitContext])
	f.MaxRequest = l[delivery.LimitRequest]
	if n := l[delivery.LimitDoubted]; n > 0 && (f.MaxRequest == 0 || n < f.MaxRequest) {
		f.MaxRequest = n
	}
	f.MaxBytes, f.MaxEdge, f.MaxCount = l[delivery.LimitBytes], int(l[delivery.LimitEdge]), int(l[delivery.LimitCount])
	return f, nil
}

// SaveVerdicts implements agent.EndpointMemory. A newer verdict replaces an
// older one.
func (d *Disk) SaveVerdicts(ctx context.Context, vs []agent.Verdict) error {
	return d.write(ctx, "SaveVerdicts", "", func(*kept) error {
		for _, v := range vs {
			if v.Digest.IsZero() {
				if d.mimes[v.Endpoint] == nil {
					d.mimes[v.Endpoint] = map[string]bool{}
				}
				d.mimes[v.Endpoint][v.MIME] = true
				continue
			}
			if d.verdicts[v.Endpoint] == nil {
				d.verdicts[v.Endpoint] = map[content.Digest]agent.Verdict{}
			}
			d.verdicts[v.Endpoint][v.Digest] = v
		}
		return nil
	})
}

// SaveEvidence implements agent.EndpointMemory.
func (d *Disk) SaveEvidence(ctx context.Context, endpoint string, k content.Kind, c delivery.Capability) error {
	return d.write(ctx, "SaveEvidence", "", func(*kept) error {
		d.evidence[endpoint+"/"+k.String()] = c
		return nil
	})
}

// SaveLimit implements agent.EndpointMemory.
func (d *Disk) SaveLimit(ctx context.Context, endpoint, name string, value int64) error {
	return d.write(ctx, "SaveLimit", "", func(*kept) error {
		if d.limits[endpoint] == nil {
			d.limits[endpoint] = map[string]int64{}
		}
		d.limits[endpoint][name] = value
		return nil
	})
}

// Evidence is what was saved about a kind.
func (d *Disk) Evidence(endpoint string, k content.Kind) (delivery.Capability, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, ok := d.evidence[endpoint+"/"+k.String()]
	return c, ok
}

// Verdict is the verdict on a blob.
func (d *Disk) Verdict(endpoint string, digest content.Digest) (agent.Verdict, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v, ok := d.verdicts[endpoint][digest]
	return v, ok
}

// Limit is a learned limit, 0 for none.
func (d *Disk) Limit(endpoint, name string) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.limits[endpoint][name]
}

// Learned is how much was learned about an endpoint: verdicts that refuse, media
// types, limits, and evidence of kinds.
func (d *Disk) Learned(endpoint string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.mimes[endpoint]) + len(d.limits[endpoint])
	for _, v := range d.verdicts[endpoint] {
		if !v.Accepted {
			n++
		}
	}
	for key := range d.evidence {
		if strings.HasPrefix(key, endpoint+"/") {
			n++
		}
	}
	return n
}

// RefusesType reports whether a media type is refused.
func (d *Disk) RefusesType(endpoint, mime string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.mimes[endpoint][mime]
}
