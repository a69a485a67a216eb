package servers

import (
	"os/exec"
	"syscall"
)

// endWithParent makes the kernel send sig to the child when this process ends,
// however it ends.
func endWithParent(cmd *exec.Cmd, sig syscall.Signal) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.Pdeathsig = sig
}
