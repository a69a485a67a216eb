package servers

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// unprivileged returns what makes a child run as someone PostgreSQL accepts:
// the current user, or, for root, the user postgres, who becomes the owner of
// dir.
func unprivileged(dir string) (*syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return new(syscall.SysProcAttr), nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("servers: root needs the user postgres: %w: %s", err, postgresInitdb.install())
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("servers: user postgres: %w", err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("servers: user postgres: %w", err)
	}
	if err := reachable(dir); err != nil {
		return nil, err
	}
	if err := os.Chown(dir, int(uid), int(gid)); err != nil {
		return nil, fmt.Errorf("servers: give the folder to postgres: %w", err)
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// reachable fails if a folder above dir is closed to others, which initdb would
// only call "Permission denied".
func reachable(dir string) error {
	for dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		info, err := os.Stat(dir)
		if err != nil {
			return fmt.Errorf("servers: start postgres: %w", err)
		}
		if info.Mode().Perm()&0o001 == 0 {
			return fmt.Errorf("servers: the user postgres cannot enter %s: chmod o+x it, or take another folder", dir)
		}
	}
	return nil
}
