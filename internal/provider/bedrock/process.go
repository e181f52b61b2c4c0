package bedrock

import (
	"context"
	"os/exec"

	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"
)

// quiet builds the credential_process of a profile: the user's own command,
// which the AWS library runs for every program that uses the profile. Here it
// gets no input and its complaints go nowhere.
type quiet string

// NewCommand implements [processcreds.NewCommandBuilder].
func (q quiet) NewCommand(ctx context.Context) (*exec.Cmd, error) {
	cmd, err := processcreds.DefaultNewCommandBuilder{Args: []string{string(q)}}.NewCommand(ctx)
	if err != nil {
		return nil, err
	}
	cmd.Stdin, cmd.Stderr = nil, nil
	return cmd, nil
}
