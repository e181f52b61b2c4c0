package bedrock

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"tote/internal/delivery"
	"tote/internal/provider"
)

// suffixes are the domains of AWS's partitions by the start of their regions:
// https://docs.aws.amazon.com/whitepapers/latest/aws-fault-isolation-boundaries/partitions.html
// (read 2026-11-30). The order matters: a longer start stands first.
var suffixes = [...]struct{ start, domain string }{
	{"cn-", "amazonaws.com.cn"},
	{"eusc-", "amazonaws.eu"},
	{"us-isob-", "sc2s.sgov.gov"},
	{"us-isof-", "csp.hci.ic.gov"},
	{"us-iso-", "c2s.ic.gov"},
	{"eu-isoe-", "cloud.adc-e.uk"},
	{"", "amazonaws.com"},
}

// endpoint is the base URL of Bedrock in a region.
func endpoint(region string) string {
	for _, s := range suffixes {
		if strings.HasPrefix(region, s.start) {
			return "https://bedrock-runtime." + region + "." + s.domain
		}
	}
	panic("bedrock: no domain for a region")
}

// regional reports whether s looks like a region, words and a number joined by
// hyphens: it becomes a part of a host name.
func regional(s string) bool {
	words := strings.Split(s, "-")
	last := len(words) - 1
	for i, w := range words {
		low, high := byte('a'), byte('z')
		if i == last {
			low, high = '0', '9'
		}
		if w == "" || strings.ContainsFunc(w, func(r rune) bool { return r < rune(low) || r > rune(high) }) {
			return false
		}
	}
	return last >= 2
}

// region is the region to sign for, and to send to where there is no base URL.
func (a *account) region(ctx context.Context) (string, error) {
	region := a.stated()
	if region == "" {
		cfg, err := a.load(ctx)
		if err != nil {
			return "", err
		}
		region = cfg.Region
	}
	switch {
	case region == "":
		return "", a.setup(errors.New("no AWS region is set"))
	case !regional(region):
		return "", a.setup(errors.New("the AWS region that is set has not the form of one"))
	}
	return region, nil
}

func (a *account) setup(err error) error {
	return &provider.Error{
		Failure: delivery.Failure{Kind: delivery.FailAuth}, Err: err, Local: true,
		Hint: "set " + regionPlaces(a.opts.Name) + ", for example to us-east-1",
	}
}

// regionPlaces says where the region is set.
func regionPlaces(name string) string {
	if name == "" {
		return "AWS_REGION"
	}
	return "providers." + name + ".region or AWS_REGION"
}

// stated is the region as far as it is known without reading files: a request
// to a region's host, or for a region's model, can be answered there alone.
func (a *account) stated() string {
	return first(a.config.Region, hostRegion(a.opts.BaseURL), modelRegion(a.config.Model),
		a.config.Env("AWS_REGION"), a.config.Env("AWS_DEFAULT_REGION"))
}

// hostRegion is the region in the name of a host of Bedrock, "" for another
// host. Private endpoints have further labels before it.
func hostRegion(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	labels := strings.Split(u.Hostname(), ".")
	for i, l := range labels[:len(labels)-1] {
		if (l == "bedrock-runtime" || l == "bedrock-runtime-fips") && regional(labels[i+1]) {
			return labels[i+1]
		}
	}
	return ""
}

// modelRegion is the region of an ARN, "" for a model's id.
func modelRegion(model string) string {
	f := strings.SplitN(model, ":", 5)
	if len(f) == 5 && f[0] == "arn" && f[2] == "bedrock" && regional(f[3]) {
		return f[3]
	}
	return ""
}
