package storetest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"fmt"
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

// Empty takes every row out of a migrated database on a server, and leaves what migrations wrote.
func Empty(dsn string) error {
	db, err := connect(dsn)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	ctx := context.Background()
	rows, err := db.QueryContext(ctx, "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' AND table_name NOT LIKE 'goose%' AND table_name <> 'event_counter'")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var tables []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		tables = append(tables, name)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, name := range tables {
		if _, err := db.ExecContext(ctx, "DELETE FROM `"+name+"`"); err != nil {
			return fmt.Errorf("empty %s: %w", name, err)
		}
	}
	return nil
}

func connect(dsn string) (*sql.DB, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, err
	}
	config := mysql.NewConfig()
	config.User = u.User.Username()
	config.Passwd, _ = u.User.Password()
	config.Net, config.Addr, config.DBName = "tcp", u.Host, strings.TrimPrefix(u.Path, "/")
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// Execute runs one statement on a server or database as its DSN names it.
func Execute(t testing.TB, dsn, statement string) {
	t.Helper()
	db, err := connect(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(context.Background(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
