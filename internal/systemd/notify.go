package systemd

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"
)

// States that the service manager understands; several may be joined with line ends.
const (
	Ready    = "READY=1"
	Stopping = "STOPPING=1"
	Alive    = "WATCHDOG=1"
)

// Status is a line for people, shown by systemctl status.
func Status(text string) string { return "STATUS=" + text }

// Notify sends a state. Without a service manager it does nothing and returns nil.
func Notify(state string) error {
	return notify(os.Getenv("NOTIFY_SOCKET"), state)
}

func notify(socket, state string) error {
	if socket == "" {
		return nil
	}
	if socket[0] == '@' { // an abstract socket is written with @ for its leading zero byte
		socket = "\x00" + socket[1:]
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("reach the service manager: %w", err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(state)); err != nil {
		return fmt.Errorf("tell the service manager: %w", err)
	}
	return nil
}

// Interval is how often Alive must be sent: half of the time after which the service
// manager gives up; 0 when it does not watch this process.
func Interval() time.Duration {
	return interval(os.Getenv("WATCHDOG_USEC"), os.Getenv("WATCHDOG_PID"), os.Getpid())
}

func interval(microseconds, pid string, own int) time.Duration {
	n, err := strconv.ParseInt(microseconds, 10, 64)
	if err != nil || n <= 0 || n > int64(time.Hour*24*365/time.Microsecond) {
		return 0
	}
	if pid != "" && pid != strconv.Itoa(own) {
		return 0
	}
	return time.Duration(n) * time.Microsecond / 2
}

// KeepAlive sends Alive at the watchdog's interval while healthy says so, until ctx ends.
// It returns at once when nobody watches. An unhealthy daemon stays silent, and the
// service manager restarts it.
func KeepAlive(ctx context.Context, healthy func(context.Context) bool) {
	every := Interval()
	if every == 0 {
		return
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if healthy(ctx) {
			_ = Notify(Alive) // a lost beat is followed by the next one
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
