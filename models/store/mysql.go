package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"
	dialect "gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/sitemapd/sitemapd/models"
)

const (
	connections = 16
	// sqlMode refuses what servers otherwise bend in silence: cut texts, zero dates.
	sqlMode = "STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
)

// openMySQL looks at the server first: the names of session variables differ between MySQL and MariaDB.
func (s *Store) openMySQL(ctx context.Context, from source) error {
	s.dialect = MySQL
	config, err := serverConfig(from)
	if err != nil {
		return err
	}
	if err := sessionVariables(ctx, config); err != nil {
		return err
	}
	connector, err := driver.NewConnector(config)
	if err != nil {
		return err
	}
	open := func(n int) *sql.DB {
		pool := sql.OpenDB(connector)
		pool.SetMaxOpenConns(n)
		pool.SetMaxIdleConns(n)
		pool.SetConnMaxLifetime(3 * time.Minute)  // below every proxy's and server's own limit
		pool.SetConnMaxIdleTime(10 * time.Second) // below wait_timeout
		return pool
	}
	pool := open(connections)
	s.pools = append(s.pools, pool)
	s.bulk = pool
	s.migrating = func() (*sql.DB, error) { return open(4), nil }
	var zone, mode string
	if err := pool.QueryRowContext(ctx, "SELECT @@time_zone, @@sql_mode").Scan(&zone, &mode); err != nil {
		return err
	}
	if zone != "+00:00" || !strings.Contains(mode, "STRICT_TRANS_TABLES") {
		return models.Invalid("database", "a proxy between must pass session variables on",
			"the session's time zone is %q and its mode %q", zone, mode)
	}
	s.db, err = gorm.Open(dialect.New(dialect.Config{Conn: pool, DisableWithReturning: true}), s.gormConfig())
	s.reads = s.db
	return err
}

func serverConfig(from source) (*driver.Config, error) {
	config := driver.NewConfig()
	config.User, config.Passwd = from.user, from.password
	config.Net, config.Addr, config.DBName = "tcp", from.address, from.name
	config.TLSConfig = from.tls
	config.ParseTime, config.Loc = true, time.UTC
	config.Timeout, config.ReadTimeout, config.WriteTimeout = 5*time.Second, 60*time.Second, 60*time.Second
	config.RejectReadOnly = true
	config.MaxAllowedPacket = 0 // ask the server
	// Small statements go in one round trip; the bulk ones are prepared anyway.
	config.InterpolateParams = true
	config.Logger = &driver.NopLogger{}
	if err := config.Apply(driver.Charset("utf8mb4", "utf8mb4_bin"), driver.TimeTruncate(time.Microsecond)); err != nil {
		return nil, fmt.Errorf("configure driver: %w", err)
	}
	return config, nil
}

// sessionVariables sets on every connection: UTC, strict, READ COMMITTED, bounded waits; reads after writes on Galera.
func sessionVariables(ctx context.Context, config *driver.Config) error {
	connector, err := driver.NewConnector(config)
	if err != nil {
		return err
	}
	pool := sql.OpenDB(connector)
	defer func() { _ = pool.Close() }() // only read from
	var version string
	if err := pool.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return err
	}
	// wait_timeout: a daemon that freezes within a transaction must not keep its row locks for the server's eight hours.
	config.Params = map[string]string{"wait_timeout": "20", "time_zone": "'+00:00'", "sql_mode": "'" + sqlMode + "'", "innodb_lock_wait_timeout": "15"}
	if !strings.Contains(version, "MariaDB") {
		config.Params["transaction_isolation"] = "'READ-COMMITTED'"
		return nil
	}
	config.Params["tx_isolation"] = "'READ-COMMITTED'" // the name that every MariaDB knows
	config.Params["max_statement_time"] = "300"        // a cancelled query would otherwise run on
	var name, galera string
	switch err := pool.QueryRowContext(ctx, "SHOW GLOBAL VARIABLES LIKE 'wsrep_on'").Scan(&name, &galera); {
	case err == sql.ErrNoRows:
	case err != nil:
		return err
	case galera == "ON":
		config.Params["wsrep_sync_wait"] = "1"
	}
	return nil
}
