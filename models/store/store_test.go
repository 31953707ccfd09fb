package store_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sitemapd/sitemapd/models/store"
	"github.com/sitemapd/sitemapd/models/store/storetest"
)

// openAlone makes this test binary a program that opens a database, migrates it and ends.
const openAlone = "STORE_TEST_OPEN"

func TestMain(m *testing.M) {
	if dsn := os.Getenv(openAlone); dsn != "" {
		s, err := store.Open(context.Background(), dsn, store.Options{})
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if dsn := os.Getenv(writeForEver); dsn != "" {
		fmt.Println("error", endless(dsn, os.Stdout))
		os.Exit(1)
	}
	store.OnCompiled(statements.note)
	code := m.Run()
	if wide := statements.wide(); len(wide) > 0 && code == 0 {
		fmt.Fprintln(os.Stderr, "these statements read all declarations of a site, or of all sites:\n"+strings.Join(wide, "\n"))
		code = 1
	}
	os.Exit(code)
}

func handles(t testing.TB, dsn string) func() *store.Store {
	return func() *store.Store {
		t.Helper()
		s, err := store.Open(t.Context(), dsn, store.Options{})
		if err != nil {
			t.Fatalf("open: %v", err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
		return s
	}
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	storetest.Exercise(t, func(t testing.TB) func() *store.Store { return handles(t, storetest.SQLite(t)) })
}

func TestMySQL(t *testing.T) {
	t.Parallel()
	if os.Getenv(storetest.Server) == "" {
		t.Skip(storetest.Server + " is not set")
	}
	storetest.Exercise(t, func(t testing.TB) func() *store.Store { return handles(t, storetest.MySQL(t)) })
}

// TestTimes_InOtherZones repeats the test of times with the process in zones that turn their clocks.
func TestTimes_InOtherZones(t *testing.T) {
	t.Parallel()
	if os.Getenv("TZ") != "" {
		t.Skip("inside itself")
	}
	for _, zone := range []string{"America/New_York", "Australia/Lord_Howe"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^(TestSQLite|TestMySQL)$/^Times_")
		cmd.Env = append(os.Environ(), "TZ="+zone)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "PASS") {
			t.Errorf("TZ=%s: %v\n%s", zone, err, out)
		}
	}
}
