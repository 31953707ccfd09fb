package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// owner names this process among all that share the database: machine, process, and a random part.
func owner() string {
	var random [6]byte
	_, _ = rand.Read(random[:])
	return fmt.Sprintf("%s/%d/%s", machine(), os.Getpid(), hex.EncodeToString(random[:]))
}

// machine names the space in which a process number means one process: this boot of this host and, in a container, its
// own numbering. It is "" where that cannot be told.
func machine() string {
	host, _ := os.Hostname()
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, err2 := os.Readlink("/proc/self/ns/pid")
	if err != nil || err2 != nil {
		return fmt.Sprintf("%.40s", host)
	}
	return fmt.Sprintf("%.40s:%.8s:%s", host, boot, strings.Trim(strings.TrimPrefix(space, "pid:"), "[]"))
}

// dead tells that the owner of a lease was a process of this machine that runs no more.
func dead(owner string) bool {
	parts := strings.Split(owner, "/")
	if len(parts) != 3 || parts[0] != machine() || !strings.Contains(parts[0], ":") {
		return false
	}
	pid, err := strconv.Atoi(parts[1])
	return err == nil && pid > 0 && pid != os.Getpid() && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
