package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// spent is the processor time that processes have used so far, to the nanosecond: unlike the clock on the wall it says
// the same on a machine with other work. 0 where the kernel does not tell.
func spent(pids ...int) time.Duration {
	var sum time.Duration
	for _, pid := range pids {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, task := range tasks {
			text, err := os.ReadFile(task)
			if err != nil {
				continue // a thread that has ended
			}
			first, _, _ := strings.Cut(string(text), " ")
			if ns, err := strconv.ParseInt(first, 10, 64); err == nil {
				sum += time.Duration(ns)
			}
		}
	}
	return sum
}

// serverPID is the process that listens on MariaDB's socket, 0 when it does not say so.
func (s *server) pid() int {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(s.socket), "pid"))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}
