// Package store is the only door to the database: GORM for ordinary rows, prepared multi-row SQL through the same
// connections for declarations, numbered migrations, transactions with retry, host leases and queries as of any run.
// SQLite (a file) and MySQL, MariaDB and their clusters hold the same rows and give the same answers.
//
// It promises:
//   - Rows of a run are invisible until Finish moves the site's current_run; a run that dies leaves nothing visible,
//     and the next BeginRun sweeps what it wrote.
//   - Every transaction that writes a run's rows proves the host's lease (owner and epoch) in the same transaction.
//     A lost lease is models.ErrLeaseLost, and nothing of that transaction is kept.
//   - Whole transactions are retried, never single statements, and each is safe to repeat after a commit whose
//     answer was lost.
//   - Declarations, versions of documents and removals are superseded, never overwritten: any past run can be read.
//   - Memory is bounded: long lists are streamed in keyset portions.
//
// It may import models and libraries, nothing else of ours.
package store
