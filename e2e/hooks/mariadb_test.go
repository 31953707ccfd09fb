package hooks_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// server is a MariaDB of the test's own, which it may kill.
type server struct {
	*testing.T
	program, folder, account string
	port                     int
	command                  *exec.Cmd
}

// newServer sets a server up and starts it; the test is skipped where MariaDB is not installed.
func newServer(t *testing.T) *server {
	t.Helper()
	install, err := exec.LookPath("mariadb-install-db")
	if err != nil {
		t.Skip("mariadb-install-db is not installed")
	}
	m := &server{T: t, program: "/usr/sbin/mariadbd"}
	if path, err := exec.LookPath("mariadbd"); err == nil {
		m.program = path
	}
	// A short path: that of a socket must stay below 107 bytes.
	if m.folder, err = os.MkdirTemp("/tmp", "sdhooks"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(m.folder) })
	m.own()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.port = listener.Addr().(*net.TCPAddr).Port
	_ = listener.Close()
	setup := exec.Command(install, "--no-defaults", "--user="+m.account, "--datadir="+filepath.Join(m.folder, "data"), "--skip-test-db",
		"--auth-root-authentication-method=normal", "--force")
	if out, err := setup.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	m.start()
	t.Cleanup(m.kill)
	grant := exec.Command("mariadb", "--no-defaults", "-uroot", "-S", filepath.Join(m.folder, "sock"), "-e",
		"CREATE USER 'sitemapd'@'127.0.0.1' IDENTIFIED BY 'hooks'; GRANT ALL ON *.* TO 'sitemapd'@'127.0.0.1'")
	if out, err := grant.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return m
}

// own gives the folder to the account that the server runs as: it refuses to be root.
func (m *server) own() {
	m.Helper()
	if err := os.Mkdir(filepath.Join(m.folder, "data"), 0o755); err != nil {
		m.Fatal(err)
	}
	if me, err := user.Current(); err == nil && me.Uid != "0" {
		m.account = me.Username
		return
	}
	for _, name := range []string{"mysql", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		m.account = name
		uid, _ := strconv.Atoi(account.Uid)
		gid, _ := strconv.Atoi(account.Gid)
		for _, path := range []string{m.folder, filepath.Join(m.folder, "data")} {
			if err := os.Chown(path, uid, gid); err != nil {
				m.Fatal(err)
			}
		}
		return
	}
	m.Skip("MariaDB refuses to run as root, and there is no other account")
}

// start starts the server and waits until it takes connections. Every commit is on disk before it is answered. Its temporary
// files are its own: a server that starts deletes those of every other one that keeps them in the same folder.
func (m *server) start() {
	m.Helper()
	m.command = exec.Command(m.program, "--no-defaults", "--user="+m.account, "--datadir="+filepath.Join(m.folder, "data"),
		"--tmpdir="+m.folder, "--socket="+filepath.Join(m.folder, "sock"), "--pid-file="+filepath.Join(m.folder, "pid"), "--bind-address=127.0.0.1",
		fmt.Sprintf("--port=%d", m.port), "--skip-name-resolve", "--max-connections=400", "--innodb-buffer-pool-size=256M",
		"--innodb-flush-log-at-trx-commit=1", "--character-set-server=utf8mb4")
	var log bytes.Buffer
	m.command.Stdout, m.command.Stderr = &log, &log
	if err := m.command.Start(); err != nil {
		m.Fatal(err)
	}
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", m.port)); err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(deadline) {
			m.kill()
			m.Fatalf("MariaDB did not start within 60 s:\n%s", log.String())
		}
	}
}

// kill ends the server at once, whatever it is writing.
func (m *server) kill() {
	if m.command == nil {
		return
	}
	_ = m.command.Process.Signal(syscall.SIGKILL)
	_ = m.command.Wait()
	m.command = nil
}

func (m *server) dsn() string { return fmt.Sprintf("mysql://sitemapd:hooks@127.0.0.1:%d/", m.port) }
