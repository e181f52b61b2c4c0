package bedrock

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/logincreds"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/ssocreds"

	"tote/internal/delivery"
	"tote/internal/provider"
)

// maxFault is how much of the AWS library's words is kept, in bytes.
const maxFault = 300

// authFault is credentials that cannot be had.
func authFault(hint string, err error) *provider.Error {
	return &provider.Error{Failure: delivery.Failure{Kind: delivery.FailAuth}, Hint: hint, Err: err, Local: true}
}

// fault is why the configuration cannot be used.
func (a *account) fault(err error) error {
	var missing config.SharedConfigProfileNotExistError
	var mfa config.AssumeRoleTokenProviderNotSetError
	switch {
	case errors.As(err, &missing):
		return authFault("aws configure list-profiles shows which there are",
			fmt.Errorf("read AWS configuration: there is no profile %q", a.profile()))
	case errors.As(err, &mfa):
		return authFault("use a profile of AWS SSO, or one with a credential_process, in its place",
			errors.New("read AWS configuration: its role wants a code each time, which is not asked for here"))
	}
	return authFault("check the AWS configuration: aws configure list", fmt.Errorf("read AWS configuration: %s", brief(err)))
}

// refused is why a source gives no credentials. What a process wrote may hold
// some, so it is never quoted.
func (a *account) refused(source aws.CredentialsProvider, err error) error {
	is := func(target aws.CredentialsProvider) bool { return aws.IsCredentialsProvider(source, target) }
	switch {
	case is((*processcreds.Provider)(nil)):
		return authFault("run the command of credential_process by hand and look at what it says",
			errors.New("get AWS credentials: the credential_process of "+a.profileWords()+" gives none"))
	case is((*ec2rolecreds.Provider)(nil)):
		return authFault("run aws configure or aws sso login and name the profile in AWS_PROFILE, or set "+bearerEnv,
			errors.New("get AWS credentials: there are none in "+a.profileWords()+", in the environment or on this machine"))
	}
	cause := fmt.Errorf("get AWS credentials: %w", &briefError{err})
	if ue := (*url.Error)(nil); errors.As(err, &ue) || errors.Is(err, context.DeadlineExceeded) {
		o := a.opts
		o.BaseFrom = "the AWS configuration"
		return &provider.Error{Failure: delivery.Failure{Kind: delivery.FailNetwork}, Hint: provider.NetworkHint(o, err), Err: cause}
	}
	switch {
	case is((*ssocreds.Provider)(nil)):
		return authFault("the AWS login has run out; run: "+a.command("aws sso login"), cause)
	case is((*logincreds.Provider)(nil)):
		return authFault("the AWS login has run out; run: "+a.command("aws login"), cause)
	}
	return authFault(a.command("aws sts get-caller-identity")+" shows what is wrong", cause)
}

// command adds the profile in use to a command line.
func (a *account) command(line string) string {
	p := a.profile()
	switch {
	case p == "":
		return line
	case strings.ContainsFunc(p, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`"'$&|;<>()*?`+"`\\", r) }):
		return line + ` --profile "` + strings.NewReplacer(`"`, "", "$", "", "`", "", `\`, "").Replace(p) + `"`
	}
	return line + " --profile " + p
}

func (a *account) profileWords() string {
	if p := a.profile(); p != "" {
		return fmt.Sprintf("profile %q", p)
	}
	return "the default profile"
}

// briefError is an error of the AWS library in brief words.
type briefError struct{ err error }

func (e *briefError) Error() string { return brief(e.err) }

func (e *briefError) Unwrap() error { return e.err }

// brief is one line of an error of the AWS library, which can be long.
func brief(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	if len(s) > maxFault {
		s = strings.ToValidUTF8(s[:maxFault], "") + "…"
	}
	return s
}

// advice tells what a refusal of AWS means, by its words. Kinds are set where
// the status says another thing: AWS answers 403 to old credentials.
var advice = [...]struct {
	words string
	auth  bool
	hint  func(*account) string
}{
	{"token included in the request is expired", true, login},
	{"token included in the request is invalid", true, login},
	{"token is expired", true, login},
	{"signature expired", true, clock},
	{"signature not yet current", true, clock},
	{"signature we calculated does not match", true, func(*account) string {
		return "the secret access key does not belong to the access key, or something on the way changes requests"
	}},
	{"not authorized to perform", false, func(*account) string {
		return "this AWS identity needs the permission bedrock:InvokeModelWithResponseStream for the model"
	}},
	{"have access to the model", false, func(*account) string {
		return "ask for access to the model in the console of Bedrock, in the region in use"
	}},
	{"on-demand throughput isn", false, func(*account) string {
		return "name an inference profile as the model, for example the model's id with us. or eu. before it"
	}},
	{"model identifier is invalid", false, func(*account) string {
		return "check the model's id and the region: not each model is in each"
	}},
}

func login(a *account) string {
	return "log in to AWS again; " + a.command("aws sts get-caller-identity") + " shows whether it helped"
}

func clock(*account) string { return "the clock of this machine is wrong; set it" }

// advise puts right what an error of the service says about credentials.
func (a *account) advise(e *provider.Error) {
	kind := &e.Failure.Kind
	denied := *kind == delivery.FailAuth || *kind == delivery.FailPermission
	if !denied && *kind != delivery.FailRefused || e.Failure.Status == 0 {
		return
	}
	key, err := a.opts.Key()
	signed := err == nil && key == ""
	if denied && signed {
		e.Hint = a.command("aws sts get-caller-identity") + " shows who you are to AWS; that identity may not use the model"
	}
	words := strings.ToLower(e.Message)
	for _, v := range advice {
		if !strings.Contains(words, v.words) || v.auth && !signed {
			continue
		}
		if v.auth && denied {
			*kind = delivery.FailAuth
		}
		e.Hint = v.hint(a)
		break
	}
	if *kind == delivery.FailAuth && signed {
		a.forget()
	}
}
