package store

import (
	"context"
	"database/sql/driver"

	"gorm.io/gorm"
)

// Write is the retry wrapper, for tests that make transactions fail.
func (s *Store) Write(ctx context.Context, fn func(tx *gorm.DB, try int) error) error {
	return s.write(ctx, fn)
}

// DB is the handle that writes.
func (s *Store) DB() *gorm.DB { return s.db }

// Reads is the handle of ordinary reads, which on SQLite may not write.
func (s *Store) Reads() *gorm.DB { return s.reads }

// Rows are the types of all rows that GORM reads and writes.
func Rows() []interface{ TableName() string } {
	return []interface{ TableName() string }{siteRow{}, runRow{}, documentRow{}, versionRow{}, sumsRow{}, findingRow{}, removalRow{}, triggerRow{},
		hookKeyRow{}, tokenRow{}, accountRow{}, sessionRow{}, deliveryRow{}, expectationRow{}, inventoryRow{}, postRow{}, segmentRow{},
		eventRow{}, channelRow{}, channelKeyRow{}, attemptRow{}, resendRow{}, alertRuleRow{}, alertRow{},
		canonicalHeadRow{}, canonicalWatchRow{}, canonicalObservationRow{}, canonicalRelationshipRow{}, canonicalStateRow{}, canonicalCandidateRow{},
		canonicalConflictRow{}, canonicalDirtyRow{}, canonicalNewsRow{}, canonicalFindingRow{}, canonicalMuteRow{}, canonicalIncidentRow{},
		canonicalHostRow{}, canonicalNegativeRow{}, canonicalProgressRow{}, canonicalAuditRow{}}
}

// DeclarationColumns are those of the rows that GORM does not know.
const DeclarationColumns = declarationColumns

// Explain, TooLarge and Fitting are what Open and StageDocument make of errors and batches.
var (
	Explain  = func(err error) error { return explain(err, source{path: "x"}) }
	TooLarge = tooLarge
	Fitting  = fitting
)

// Keeping wraps an SQLite connector as the store does.
func Keeping(c driver.Connector) driver.Connector { return keepingConnector{c} }

// OnCompiled lets fn see every statement that SQLite compiles from now on. It is set before the first store is opened.
func OnCompiled(fn func(text string)) { compiled = fn }

const KeptStatements = keptStatements
