package shell

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// left lists the processes of the group, without the guard: "123 sleep 60".
func (g *group) left() []string {
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	var out []string
	for _, dir := range names {
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue // it has ended
		}
		// What follows the name in parentheses: state, parent, group, session.
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		own := strconv.Itoa(g.pid)
		if len(f) < 4 || f[0] == "Z" || f[2] != own && f[3] != own {
			continue
		}
		line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		args := strings.Split(string(bytes.TrimRight(line, "\x00")), "\x00")
		if err != nil || len(args) > 3 && args[3] == guardName {
			continue
		}
		out = append(out, describe(filepath.Base(dir), strings.Join(args, " ")))
	}
	return out
}

// describe names a process in a few words.
func describe(pid, command string) string {
	const most = 60
	command = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(command, ""))
	if r := []rune(command); len(r) > most {
		command = string(r[:most]) + "..."
	}
	return fmt.Sprintf("%s %s", pid, command)
}
