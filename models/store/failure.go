package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"io/fs"
	"net"
	"strings"
	"syscall"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/sitemapd/sitemapd/models"
)

// number gives the server's error number, 0 when the server did not say one.
func number(err error) uint16 {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

// code gives SQLite's primary result code, 0 when the error is not SQLite's.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// duplicate reports that a row with the same unique key is there already.
func duplicate(err error) bool {
	if errors.Is(err, gorm.ErrDuplicatedKey) || number(err) == 1062 {
		return true
	}
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code() == lib.SQLITE_CONSTRAINT_UNIQUE || e.Code() == lib.SQLITE_CONSTRAINT_PRIMARYKEY ||
		e.Code() == lib.SQLITE_CONSTRAINT_ROWID)
}

// passing reports that the same transaction may well succeed when it is tried anew.
func passing(err error) bool {
	switch number(err) {
	case 1213, 1205, 1020, // deadlock (also Galera's certification), lock wait, snapshot
		1047, 1053, // node not ready, shutting down
		9007, 8022, 8002, 8028: // TiDB: write conflict, retryable commit, schema changed
		return true
	}
	switch code(err) {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return true
	}
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE)
}

// tooLarge reports that the server refused a batch for its size: half of it may pass.
func tooLarge(err error) bool {
	switch number(err) {
	case 1105, 1180, 1153, 1390, 8004, 8025:
		return true
	}
	return errors.Is(err, mysql.ErrPktTooLarge)
}

// hint says what an operator can do about a failure, "" when we know nothing.
func hint(err error) string {
	switch code(err) {
	case lib.SQLITE_FULL:
		return "the disk is full: free some space, nothing stored is lost"
	case lib.SQLITE_READONLY:
		return "the database file, its directory and the files beside it must be writable by the user that runs sitemapd"
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return "another program keeps the database locked: end it, or wait and try again"
	case lib.SQLITE_NOTADB:
		return "choose another path; the file is left as it is"
	case lib.SQLITE_CORRUPT:
		return "the file is damaged: stop sitemapd, keep a copy, and restore the last backup"
	case lib.SQLITE_CANTOPEN:
		return "check the path and the permissions of its directory; large sorts also need a writable temporary directory"
	case lib.SQLITE_IOERR:
		return "the disk or the file system answered with an error; do not keep an SQLite database on a network file system"
	}
	switch number(err) {
	case 1045, 1698:
		return "check user and password; write special characters of the password as %XX"
	case 1044, 1142, 1227:
		return "grant the user all rights on this database"
	case 1049:
		return "create it: CREATE DATABASE name CHARACTER SET utf8mb4"
	case 1040, 1203:
		return "the server has no connection left: raise max_connections, or end other clients"
	case 1114, 1021:
		return "the server's disk is full: free some space, nothing stored is lost"
	case 1290, 1792, 1836:
		return "the server is read-only: name the primary"
	}
	return ""
}

// explain adds what an operator can do about a database that cannot be opened.
func explain(err error, from source) error {
	var invalid *models.InvalidError
	var hinted *models.HintedError
	if errors.As(err, &invalid) || errors.As(err, &hinted) {
		return err
	}
	text := hint(err)
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case text != "":
	case errors.As(err, &dns):
		text = "check the host's name"
	case errors.Is(err, syscall.ECONNREFUSED):
		text = "is the server running, and is the port right?"
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		text = "the server does not answer: check host, port and firewall"
	case errors.Is(err, fs.ErrPermission):
		text = "check the permissions of the file and its directory"
	case strings.Contains(err.Error(), "no space left"):
		text = "the disk is full"
	}
	if text == "" {
		return err
	}
	return &models.HintedError{Err: err, Hint: text}
}
