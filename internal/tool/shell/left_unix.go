//go:build unix && !linux

package shell

import (
	"os/exec"
	"strconv"
	"strings"
)

// left lists the processes of the group, without the guard: "123 sleep".
func (g *group) left() []string {
	// ps reads a table of the kernel and ends by itself.
	text, err := exec.Command("/bin/ps", "-A", "-o", "pid=,pgid=,stat=,command=").Output() //nolint:noctx // see above
	if err != nil {
		return nil
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 4 || f[1] != strconv.Itoa(g.pid) || strings.HasPrefix(f[2], "Z") || strings.Contains(line, guardName) {
			continue
		}
		out = append(out, f[0]+" "+f[3])
	}
	return out
}

// strays are not told here: only the group is known.
func (*group) strays([]stray) []stray { return nil }
