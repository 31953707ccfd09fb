package storetest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// Server is the environment variable with a server that tests may make databases on: mysql://USER:PASSWORD@HOST:PORT/
const Server = "SITEMAPD_TEST_MYSQL"

// SQLite names a new file.
func SQLite(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "test.db") }

// MySQL makes a new database on the server and names it; the test is skipped without a server.
func MySQL(t testing.TB) string {
	t.Helper()
	server := os.Getenv(Server)
	if server == "" {
		t.Skip(Server + " is not set")
	}
	u, err := url.Parse(server)
	if err != nil {
		t.Fatalf("%s: %v", Server, err)
	}
	random := make([]byte, 6)
	if _, err := rand.Read(random); err != nil {
		t.Fatal(err)
	}
	name := "sitemapd_test_" + hex.EncodeToString(random)
	Execute(t, server, "CREATE DATABASE "+name+" CHARACTER SET latin1") // the migrations name theirs
	t.Cleanup(func() { Execute(t, server, "DROP DATABASE IF EXISTS "+name) })
	u.Path = "/" + name
	return u.String()
}

// Execute runs one statement on a server or database as its DSN names it.
func Execute(t testing.TB, dsn, statement string) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config := mysql.NewConfig()
	config.User = u.User.Username()
	config.Passwd, _ = u.User.Password()
	config.Net, config.Addr, config.DBName = "tcp", u.Host, strings.TrimPrefix(u.Path, "/")
	connector, err := mysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(context.Background(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
