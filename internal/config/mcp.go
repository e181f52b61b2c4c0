package config

import (
	"reflect"
	"strconv"
	"time"

	"github.com/tailscale/hujson"
)

// ParseMCP reads a .mcp.json file, which other programs share. Members that are
// not known are passed over, and those that other programs spell in their own way
// are understood.
func ParseMCP(name string, data []byte) (Layer, error) {
	root, err := parseTree(name, data)
	if err != nil || root == nil {
		return Layer{}, err
	}
	var f faults
	servers := root.get("mcpServers")
	if servers == nil {
		return Layer{}, nil
	}
	servers = usual(servers)
	cfg := Config{}
	d := decoder{faults: &f}
	d.value(servers, reflectOf(&cfg.MCPServers), "mcpServers")
	top := newObject(root.at)
	top.set("mcp_servers", servers)
	if len(f.errs) == 0 {
		checkValues(&cfg, top, &f)
	}
	if err := f.err(); err != nil {
		return Layer{}, err
	}
	return Layer{root: top}, nil
}

// secondsUpTo is the greatest bare number that is taken as seconds. Some programs
// write a timeout in seconds, with an hour as the most, others in milliseconds,
// and none waits less than four seconds.
const secondsUpTo = 3600

// usual turns the entries of a shared file into those of an MCPServer.
func usual(servers *node) *node {
	if servers.kind != kindObject {
		return servers
	}
	out := newObject(servers.at)
	for _, k := range servers.keys {
		entry := k.val
		if entry.kind == kindObject {
			entry = usualServer(k.val)
		}
		out.keys = append(out.keys, key{name: k.name, at: k.at, val: entry})
	}
	return out
}

func usualServer(entry *node) *node {
	out := newObject(entry.at)
	for _, m := range entry.keys {
		name, val := usualName(m.name), m.val
		if _, ok := fieldNamed(reflect.TypeFor[MCPServer](), name); !ok || val.kind == kindNull {
			continue
		}
		switch {
		case m.name == "enabled" && val.kind == kindBool:
			val = &node{kind: kindBool, at: val.at, raw: strconv.AppendBool(nil, !val.isTrue())}
		case name == "type":
			val = usualType(val)
		case name == "timeout" || name == "start_timeout":
			if val = usualTime(val); val == nil {
				continue
			}
		case name == "env" || name == "headers":
			val = usualTexts(val)
		}
		if out.get(name) == nil || m.name == name { // its own spelling wins
			out.set(name, val)
			out.keys[len(out.keys)-1].at = m.at
		}
	}
	if entry.get("httpUrl") != nil && out.get("type") == nil {
		out.set("type", text(string(TransportHTTP), entry.at))
	}
	return out
}

// usualName is the member that another program's name for it means.
func usualName(name string) string {
	switch name {
	case "httpUrl", "serverUrl":
		return "url"
	case "transport":
		return "type"
	case "includeTools", "enabledTools", "enabled_tools":
		return "allow"
	case "excludeTools", "disabledTools", "disabled_tools":
		return "deny"
	case "enabled":
		return "disabled"
	case "startupTimeout", "startup_timeout_sec":
		return "start_timeout"
	case "tool_timeout_sec":
		return "timeout"
	}
	return name
}

func usualType(val *node) *node {
	if val.kind != kindString {
		return val
	}
	switch val.str() {
	case "streamableHttp", "streamable_http", "streamable-http", "remote":
		return text(string(TransportHTTP), val.at)
	case "local":
		return text(string(TransportStdio), val.at)
	}
	return val
}

// usualTime returns nil for a number that is no time.
func usualTime(val *node) *node {
	if val.kind != kindNumber {
		return val
	}
	f, err := strconv.ParseFloat(string(val.raw), 64)
	if err != nil || f <= 0 || f > float64(time.Hour*24/time.Millisecond) {
		return nil
	}
	d := time.Duration(f * float64(time.Millisecond))
	if f <= secondsUpTo {
		d = time.Duration(f * float64(time.Second))
	}
	if d <= 0 {
		return nil
	}
	return text(d.String(), val.at)
}

// usualTexts makes text of numbers and of true and false.
func usualTexts(val *node) *node {
	if val.kind != kindObject {
		return val
	}
	out := newObject(val.at)
	for _, m := range val.keys {
		switch m.val.kind {
		case kindNull:
			continue
		case kindNumber, kindBool:
			m.val = text(string(m.val.raw), m.val.at)
		case kindString, kindObject, kindArray:
		}
		out.keys = append(out.keys, m)
	}
	return out
}

func text(s string, at pos) *node {
	return &node{kind: kindString, at: at, raw: []byte(hujson.String(s))}
}
