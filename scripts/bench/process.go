package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// cost is what one child process took.
type cost struct {
	wall, cpu time.Duration
	rss       float64 // largest resident size in MB (10^6 bytes)
}

// measure runs a command to its end.
func measure(ctx context.Context, name string, arguments ...string) (cost, []byte, error) {
	command := exec.CommandContext(ctx, name, arguments...)
	command.Env = append(os.Environ(), "SITEMAPD_LOG_LEVEL=error")
	var problems bytes.Buffer
	command.Stderr = &problems
	started := time.Now()
	out, err := command.Output()
	wall := time.Since(started)
	if err != nil {
		return cost{}, nil, fmt.Errorf("%s %s: %w: %s%s", name, strings.Join(arguments, " "), err, problems.String(), out)
	}
	usage := command.ProcessState.SysUsage().(*syscall.Rusage)
	return cost{wall: wall, cpu: command.ProcessState.UserTime() + command.ProcessState.SystemTime(), rss: float64(usage.Maxrss) * 1024 / 1e6}, out, nil
}

// served is a running origin.
type served struct {
	index     string
	documents int
	stop      func()
}

func serve(ctx context.Context, posts, perFile int, gzip bool) (*served, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, self, "origin", fmt.Sprintf("-posts=%d", posts), fmt.Sprintf("-per-file=%d", perFile), fmt.Sprintf("-gzip=%v", gzip))
	command.Stderr = os.Stderr
	pipe, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	s := &served{stop: func() { _ = command.Process.Kill(); _ = command.Wait() }}
	line, err := bufio.NewReader(pipe).ReadString('\n')
	if err == nil {
		_, err = fmt.Sscan(line, &s.index, &s.documents)
	}
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("origin: %w", err)
	}
	return s, nil
}

// tell makes the origin change; it answers when its documents are rendered again.
func (s *served) tell(action string) error {
	base := s.index[:strings.Index(s.index, "/wp-sitemap")]
	response, err := http.Post(base+"/-/"+action, "text/plain", nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("origin: %s: %s", action, response.Status)
	}
	return nil
}
