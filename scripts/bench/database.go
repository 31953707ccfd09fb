package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// database is where a scenario keeps its site.
type database interface {
	dsn() string
	// rows tells how many rows of declarations, and of all tables together, were written so far.
	rows(ctx context.Context) (written, error)
	// blind makes what a run recognises unchanged documents and rows by useless, as an upgrade does that makes it in
	// another way: the next run must read and compare every row.
	blind(ctx context.Context) error
	drop(ctx context.Context) error
}

type written struct{ declarations, all int64 }

// blinding alters the hashes of what documents mean and forgets the sums of their rows; times and byte hashes stay.
const blinding = "UPDATE document_versions SET semantic_hash = x'00' WHERE length(semantic_hash) > 0; DELETE FROM document_sums"

type sqlite struct{ file string }

func newSQLite(folder string) *sqlite { return &sqlite{filepath.Join(folder, "bench.db")} }

func (s *sqlite) dsn() string { return "sqlite:" + s.file }

func (s *sqlite) rows(context.Context) (written, error) { return written{}, nil }

func (s *sqlite) blind(ctx context.Context) error {
	if out, err := exec.CommandContext(ctx, "sqlite3", s.file, blinding).CombinedOutput(); err != nil {
		return fmt.Errorf("sqlite3: %w: %s", err, out)
	}
	return nil
}

func (s *sqlite) drop(context.Context) error {
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(s.file + end); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

// server is MariaDB as bench.sh started it.
type server struct {
	socket string
	base   string // mysql://USER:PASSWORD@HOST:PORT/
	folder string // where the server itself may write files
}

// sql runs statements as the administrator, by the command-line client: it is also what LOAD DATA is measured with.
func (s *server) sql(ctx context.Context, statements string) (string, error) {
	command := exec.CommandContext(ctx, "mariadb", s.arguments("-e", statements)...)
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%.80s: %w: %s", statements, err, problems.String())
	}
	return strings.TrimSpace(string(out)), nil
}

func (s *server) arguments(more ...string) []string {
	return append([]string{"--no-defaults", "-uroot", "-S", s.socket, "-N", "--local-infile=1"}, more...)
}

type mariadb struct {
	*server
	name string
}

func (s *server) create(ctx context.Context, name string) (*mariadb, error) {
	_, err := s.sql(ctx, "SET GLOBAL userstat = 1; DROP DATABASE IF EXISTS "+name+"; CREATE DATABASE "+name)
	return &mariadb{s, name}, err
}

func (m *mariadb) dsn() string { return m.base + m.name }

func (m *mariadb) rows(ctx context.Context) (w written, err error) {
	// The server counts rows by table (userstat); InnoDB's own Innodb_rows_* are gone from MariaDB 10.11.
	out, err := m.sql(ctx, `SELECT COALESCE(SUM(IF(table_name = 'declarations', rows_changed, 0)), 0), COALESCE(SUM(rows_changed), 0)
		FROM information_schema.table_statistics WHERE table_schema = '`+m.name+`'`)
	if err != nil {
		return w, err
	}
	first, second, _ := strings.Cut(out, "\t")
	if w.declarations, err = strconv.ParseInt(first, 10, 64); err != nil {
		return w, err
	}
	w.all, err = strconv.ParseInt(second, 10, 64)
	return w, err
}

func (m *mariadb) blind(ctx context.Context) error {
	_, err := m.sql(ctx, "USE "+m.name+"; "+blinding)
	return err
}

func (m *mariadb) drop(ctx context.Context) error {
	_, err := m.sql(ctx, "DROP DATABASE "+m.name)
	return err
}

// load measures the floor of a first run: one LOAD DATA of the very rows that the program wrote, in the order of their
// key, into a table of the same shape with the same indexes.
func (m *mariadb) load(ctx context.Context) (cost, error) {
	file := filepath.Join(m.folder, "declarations.tsv")
	if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
		return cost{}, err
	}
	defer os.Remove(file)
	_, err := m.sql(ctx, "SELECT * FROM "+m.name+".declarations ORDER BY site_id, document, url_key INTO OUTFILE '"+file+
		"' CHARACTER SET binary; CREATE TABLE "+m.name+".floor LIKE "+m.name+".declarations")
	if err != nil {
		return cost{}, err
	}
	c, _, err := measure(ctx, "mariadb", m.arguments("-e", "LOAD DATA LOCAL INFILE '"+file+"' INTO TABLE "+m.name+".floor CHARACTER SET binary")...)
	if err != nil {
		return c, err
	}
	same, err := m.sql(ctx, "SELECT (SELECT COUNT(*) FROM "+m.name+".floor) = (SELECT COUNT(*) FROM "+m.name+".declarations); DROP TABLE "+m.name+".floor")
	if err == nil && same != "1" {
		err = fmt.Errorf("LOAD DATA did not load every row")
	}
	return c, err
}
