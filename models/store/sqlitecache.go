package store

import (
	"container/list"
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
)

// SQLite compiles a statement in about the time in which a small one runs, twice when its plan depends on a value. So
// each connection keeps the statements that it used last, compiled. SQLite itself compiles a kept one anew when the
// schema has changed.

const (
	// keptStatements bounds what a connection keeps: 5 to 30 KiB each.
	keptStatements = 64
	// keptText is the longest text that is kept: longer ones are lists of keys, of a different length each time.
	keptText = 1500
)

// What the driver's own types can do, and a wrapper of them must do too.
type (
	driverConn interface {
		driver.Conn
		driver.ConnBeginTx
		driver.ConnPrepareContext
		driver.ExecerContext
		driver.QueryerContext
		driver.Pinger
		driver.SessionResetter
		driver.Validator
	}
	driverStmt interface {
		driver.Stmt
		driver.StmtExecContext
		driver.StmtQueryContext
	}
	driverRows interface {
		driver.Rows
		driver.RowsColumnTypeDatabaseTypeName
		driver.RowsColumnTypeLength
		driver.RowsColumnTypeNullable
		driver.RowsColumnTypePrecisionScale
		driver.RowsColumnTypeScanType
	}
)

// keepingConnector opens connections that keep compiled statements.
type keepingConnector struct{ driver.Connector }

// Connect opens one. A driver whose types lack something that is known here is used as it is.
func (c keepingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if inner, ok := conn.(driverConn); ok {
		return &keepingConn{driverConn: inner, kept: map[string]*list.Element{}}, nil
	}
	return conn, nil
}

// keepingConn is used by one goroutine at a time, as database/sql promises to its drivers. A statement in use is not
// among those kept, so that a second use of the same text at once compiles another.
type keepingConn struct {
	driverConn
	kept  map[string]*list.Element // by text
	order list.List                // of *keptStatement, the last used first
}

type keptStatement struct {
	driverStmt
	text string
}

// Unwrap gives the driver's own connection.
func (c *keepingConn) Unwrap() driver.Conn { return c.driverConn }

// keeps tells whether statements of a text are kept: single ones that read or write rows. A PRAGMA may act while it is
// compiled, and the rest is rare.
func keeps(text string) bool {
	if len(text) > keptText || strings.IndexByte(text, ';') >= 0 {
		return false
	}
	for _, verb := range []string{"SELECT ", "INSERT ", "UPDATE ", "DELETE ", "REPLACE ", "WITH "} {
		if len(text) > len(verb) && strings.EqualFold(text[:len(verb)], verb) {
			return true
		}
	}
	return false
}

// compiled is told of every statement that is compiled; tests look at their plans.
var compiled func(text string)

// take gives a compiled statement, for put or Close.
func (c *keepingConn) take(ctx context.Context, text string) (*keptStatement, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if e := c.kept[text]; e != nil {
		return c.remove(e), nil
	}
	stmt, err := c.driverConn.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	if compiled != nil {
		compiled(text)
	}
	inner, ok := stmt.(driverStmt)
	if !ok {
		return nil, errors.Join(errors.New("statement without contexts"), stmt.Close())
	}
	return &keptStatement{inner, text}, nil
}

func (c *keepingConn) remove(e *list.Element) *keptStatement {
	s := c.order.Remove(e).(*keptStatement) // nothing else is put there
	delete(c.kept, s.text)
	return s
}

// put keeps a statement that has been reset, in place of the one that was not used for longest.
func (c *keepingConn) put(s *keptStatement) error {
	if c.kept == nil || c.kept[s.text] != nil {
		return s.Close()
	}
	c.kept[s.text] = c.order.PushFront(s)
	if c.order.Len() > keptStatements {
		return c.remove(c.order.Back()).Close()
	}
	return nil
}

// Close closes the kept statements and the connection.
func (c *keepingConn) Close() error {
	var errs []error
	for c.order.Len() > 0 {
		errs = append(errs, c.remove(c.order.Front()).Close())
	}
	c.kept = nil
	return errors.Join(append(errs, c.driverConn.Close())...)
}

// ExecContext runs a statement that gives no rows.
func (c *keepingConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	if !keeps(text) {
		return c.driverConn.ExecContext(ctx, text, args)
	}
	s, err := c.take(ctx, text)
	if err != nil {
		return nil, err
	}
	result, err := s.ExecContext(ctx, args)
	if err != nil {
		_ = s.Close() // tells again what failed
		return nil, err
	}
	return result, c.put(s)
}

// QueryContext runs a statement that gives rows; their Close gives it back.
func (c *keepingConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	if !keeps(text) {
		return c.driverConn.QueryContext(ctx, text, args)
	}
	s, err := c.take(ctx, text)
	if err != nil {
		return nil, err
	}
	rows, err := s.QueryContext(ctx, args)
	if err != nil {
		_ = s.Close() // tells again what failed
		return nil, err
	}
	inner, ok := rows.(driverRows)
	if !ok {
		return nil, errors.Join(errors.New("rows without types"), rows.Close(), s.Close())
	}
	return &keepingRows{driverRows: inner, conn: c, stmt: s}, nil
}

// PrepareContext gives a statement whose Close gives it back.
func (c *keepingConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	if !keeps(text) {
		return c.driverConn.PrepareContext(ctx, text)
	}
	s, err := c.take(ctx, text)
	if err != nil {
		return nil, err
	}
	return &keepingStmt{keptStatement: s, conn: c}, nil
}

// keepingRows are the rows of a kept statement. One that failed is not used again.
type keepingRows struct {
	driverRows
	conn   *keepingConn
	stmt   *keptStatement
	failed bool
}

// Next reads a row.
func (r *keepingRows) Next(dest []driver.Value) error {
	err := r.driverRows.Next(dest)
	if err != nil && !errors.Is(err, io.EOF) {
		r.failed = true
	}
	return err
}

// Close resets the statement and gives it back.
func (r *keepingRows) Close() error {
	if r.stmt == nil {
		return nil
	}
	s := r.stmt
	r.stmt = nil
	if err := r.driverRows.Close(); err != nil || r.failed {
		_ = s.Close() // tells again what failed
		return err
	}
	return r.conn.put(s)
}

// keepingStmt is a kept statement that database/sql holds prepared.
type keepingStmt struct {
	*keptStatement
	conn   *keepingConn
	failed bool
}

// ExecContext runs it.
func (s *keepingStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	result, err := s.keptStatement.ExecContext(ctx, args)
	s.failed = s.failed || err != nil
	return result, err
}

// QueryContext runs it for its rows, during whose reading it is not closed.
func (s *keepingStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.failed = true // whether reading them succeeds is not seen here
	return s.keptStatement.QueryContext(ctx, args)
}

// Close gives it back.
func (s *keepingStmt) Close() error {
	if s.keptStatement == nil {
		return nil
	}
	kept := s.keptStatement
	s.keptStatement = nil
	if s.failed {
		return kept.Close()
	}
	return s.conn.put(kept)
}
