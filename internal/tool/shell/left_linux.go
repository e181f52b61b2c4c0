package shell

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// kin is a process as the kernel lists it.
type kin struct {
	pid, parent, group, session int
	start                       string // a number given again is another process
}

// processes lists all processes that have not ended.
func processes() []kin {
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	var out []kin
	for _, dir := range names {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue // it has ended
		}
		// What follows the name in parentheses: state, parent, group, session.
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(f) < 20 || f[0] == "Z" {
			continue
		}
		k := kin{pid: pid, start: f[19]}
		for i, to := range []*int{&k.parent, &k.group, &k.session} {
			if *to, err = strconv.Atoi(f[i+1]); err != nil {
				break
			}
		}
		if err == nil {
			out = append(out, k)
		}
	}
	return out
}

// left lists the processes of the group, without the guard: "123 sleep 60".
func (g *group) left() []string {
	var out []string
	for _, k := range processes() {
		if k.group != g.pid && k.session != g.pid {
			continue
		}
		line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(k.pid), "cmdline"))
		args := strings.Split(string(bytes.TrimRight(line, "\x00")), "\x00")
		if err != nil || len(line) == 0 || len(args) > 3 && args[3] == guardName {
			continue // without a command line it is about to end
		}
		out = append(out, describe(strconv.Itoa(k.pid), strings.Join(args, " ")))
	}
	return out
}

// strays are the processes that belong to the call and are not in its group: groups of
// their own in its session (set -m), sessions of their own whose parents are there, and
// those of known that still run.
func (g *group) strays(known []stray) (out []stray) {
	all := processes()
	ours := map[int]bool{g.pid: true}
	for _, k := range all {
		if slices.Contains(known, stray{k.pid, k.start}) {
			ours[k.pid] = true
		}
	}
	for grown := true; grown; {
		grown = false
		for _, k := range all {
			if !ours[k.pid] && (k.group == g.pid || k.session == g.pid || ours[k.parent]) {
				ours[k.pid], grown = true, true
			}
		}
	}
	for _, k := range all {
		if ours[k.pid] && k.group != g.pid {
			out = append(out, stray{k.pid, k.start})
		}
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
