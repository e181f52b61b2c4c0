package mcp_test

import "syscall"

// nullSignal is not used: Windows has no signals.
const nullSignal = syscall.Signal(0)
