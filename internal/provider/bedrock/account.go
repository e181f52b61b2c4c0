package bedrock

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/smithy-go/logging"

	"tote/internal/provider"
)

const (
	// credentialsTimeout bounds getting credentials: a process may ask for
	// a touch of a key.
	credentialsTimeout = 90 * time.Second
	// metadataTimeout bounds one question to the metadata service of a
	// virtual machine. It is a link-local address: where it is there, it
	// answers within milliseconds; where it is not, packets may get lost.
	metadataTimeout = 500 * time.Millisecond
)

// account is the AWS configuration, which is read when it is first needed.
type account struct {
	config Config
	opts   provider.Options
	signer *v4.Signer

	mu     sync.Mutex
	loaded *aws.Config // nil before the first use and after a refusal
}

func newAccount(o provider.Options, c Config) *account {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &account{config: c, opts: o, signer: v4.NewSigner()}
}

// load reads the configuration. A failure is not kept: the user may mend it and
// try again. What the environment of the configuration says outranks what the
// AWS library finds in the process's.
func (a *account) load(ctx context.Context) (aws.Config, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.loaded != nil {
		return *a.loaded, nil
	}
	cfg, err := config.LoadDefaultConfig(ctx, a.options()...)
	if err != nil {
		return aws.Config{}, a.fault(err)
	}
	a.adapt(&cfg)
	a.loaded = &cfg
	return cfg, nil
}

// forget has the configuration read again, after credentials were refused: a
// new login is found without a restart.
func (a *account) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.loaded = nil
}

func (a *account) options() []func(*config.LoadOptions) error {
	env := a.config.Env
	out := []func(*config.LoadOptions) error{
		config.WithLogger(logging.Nop{}), // a fault is returned, not logged
		config.WithHTTPClient(a.http()),
	}
	if r := a.stated(); r != "" {
		out = append(out, config.WithRegion(r))
	}
	if f := first(a.config.ConfigFile, env("AWS_CONFIG_FILE")); f != "" {
		out = append(out, config.WithSharedConfigFiles([]string{f}))
	}
	if f := first(a.config.CredentialsFile, env("AWS_SHARED_CREDENTIALS_FILE")); f != "" {
		out = append(out, config.WithSharedCredentialsFiles([]string{f}))
	}
	if v := env("AWS_EC2_METADATA_DISABLED"); v != "" {
		state := imds.ClientEnabled
		if strings.EqualFold(v, "true") {
			state = imds.ClientDisabled
		}
		out = append(out, config.WithEC2IMDSClientEnableState(state))
	}
	// The order of the AWS library: a profile that is asked for, keys in the
	// environment, a web identity, the environment's profile.
	id, secret := env("AWS_ACCESS_KEY_ID"), env("AWS_SECRET_ACCESS_KEY")
	switch {
	case a.config.Profile != "":
		out = append(out, config.WithSharedConfigProfile(a.config.Profile))
	case id != "" && secret != "":
		keys := credentials.NewStaticCredentialsProvider(id, secret, env("AWS_SESSION_TOKEN"))
		out = append(out, config.WithCredentialsProvider(keys))
		if p := a.profile(); p != "" {
			out = append(out, config.WithSharedConfigProfile(p)) // for its region
		}
	case a.profile() != "" && env("AWS_WEB_IDENTITY_TOKEN_FILE") == "":
		out = append(out, config.WithSharedConfigProfile(a.profile()))
	}
	return out
}

// profile is the profile in use, "" for the default one.
func (a *account) profile() string {
	return first(a.config.Profile, a.config.Env("AWS_PROFILE"), a.config.Env("AWS_DEFAULT_PROFILE"))
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// adapt replaces two of the library's sources of credentials. A process would
// share standard input, over which an editor speaks, and write to the screen.
// The metadata service would be asked for seconds on a machine that has none,
// unless the environment says that there is one.
func (a *account) adapt(cfg *aws.Config) {
	switch {
	case aws.IsCredentialsProvider(cfg.Credentials, (*processcreds.Provider)(nil)):
		for _, s := range cfg.ConfigSources {
			if shared, ok := s.(config.SharedConfig); ok && shared.CredentialProcess != "" {
				cfg.Credentials = aws.NewCredentialsCache(processcreds.NewProviderCommand(quiet(shared.CredentialProcess)))
			}
		}
	case aws.IsCredentialsProvider(cfg.Credentials, (*ec2rolecreds.Provider)(nil)) && a.config.Env("AWS_EC2_METADATA_DISABLED") == "":
		short := awshttp.NewBuildableClient().WithTimeout(metadataTimeout).WithTransportOptions(func(t *http.Transport) {
			t.Proxy = nil // it is a neighbour
		})
		client := imds.NewFromConfig(*cfg, func(o *imds.Options) {
			o.HTTPClient, o.Retryer = short, aws.NopRetryer{}
		})
		cfg.Credentials = aws.NewCredentialsCache(ec2rolecreds.New(func(o *ec2rolecreds.Options) { o.Client = client }))
	}
}

// http is the client for SSO and roles, with the proxy and the certificates of
// the endpoint's own. Options that cannot be used are an error of the request.
func (a *account) http() config.HTTPClient {
	if a.opts.Transport != nil {
		return &http.Client{Transport: a.opts.Transport}
	}
	return awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		_ = a.opts.SetProxy(t) // as said
		if len(a.opts.CA) == 0 {
			return
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool() // a system without any trusts what is named
		}
		pool.AppendCertsFromPEM(a.opts.CA)
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	})
}
