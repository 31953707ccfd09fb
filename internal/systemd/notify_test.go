package systemd_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/sitemapd/sitemapd/internal/systemd"
)

// listen plays the service manager for this process, so these tests are not parallel.
func listen(t *testing.T, name string) *net.UnixConn {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

func read(t *testing.T, conn *net.UnixConn) string {
	t.Helper()
	buffer := make([]byte, 100)
	n, err := conn.Read(buffer)
	if err != nil {
		t.Fatal(err)
	}
	return string(buffer[:n])
}

func TestNotify_WithoutServiceManagerDoesNothing(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	if err := systemd.Notify(systemd.Ready); err != nil {
		t.Error(err)
	}
}

func TestNotify_SendsTheState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	abstract := "sitemapd-test-" + strconv.Itoa(os.Getpid())
	for given, name := range map[string]string{path: path, "@" + abstract: "\x00" + abstract} {
		conn := listen(t, name)
		t.Setenv("NOTIFY_SOCKET", given)
		if err := systemd.Notify(systemd.Ready + "\n" + systemd.Status("3 sites")); err != nil {
			t.Fatal(err)
		}
		if got := read(t, conn); got != "READY=1\nSTATUS=3 sites" {
			t.Errorf("%s: got %q", given, got)
		}
	}
}

func TestNotify_SaysWhenNobodyListens(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "nobody"))
	if systemd.Notify(systemd.Ready) == nil {
		t.Error("no error")
	}
}

func TestInterval_IsHalfTheWatchdogsTimeForThisProcessAlone(t *testing.T) {
	own := strconv.Itoa(os.Getpid())
	for _, test := range []struct {
		microseconds, pid string
		want              time.Duration
	}{
		{"", "", 0}, {"soon", "", 0}, {"-5", "", 0}, {"0", own, 0}, {"99999999999999999", own, 0},
		{"60000000", "", 30 * time.Second}, {"60000000", own, 30 * time.Second}, {"60000000", "1", 0},
	} {
		t.Setenv("WATCHDOG_USEC", test.microseconds)
		t.Setenv("WATCHDOG_PID", test.pid)
		if got := systemd.Interval(); got != test.want {
			t.Errorf("%q of %q: got %s, want %s", test.microseconds, test.pid, got, test.want)
		}
	}
}

func TestKeepAlive_BeatsWhileHealthy(t *testing.T) {
	conn := listen(t, filepath.Join(t.TempDir(), "notify"))
	t.Setenv("NOTIFY_SOCKET", conn.LocalAddr().String())
	t.Setenv("WATCHDOG_USEC", "2000")
	t.Setenv("WATCHDOG_PID", "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	asked := make(chan bool)
	go systemd.KeepAlive(ctx, func(context.Context) bool { return <-asked })
	asked <- false // silent
	asked <- true
	if got := read(t, conn); got != systemd.Alive {
		t.Errorf("got %q", got)
	}
	close(asked)
}
