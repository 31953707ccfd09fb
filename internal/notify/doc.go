// Package notify tells whoever asked for it what happened: it makes events of
// runs, decides which alerts open and which are over, and delivers both to
// channels (signed webhooks, mail, chats), each event at least once and in the
// order in which things happened.
//
// Everything that must not be lost is in the database before anything is sent:
// events are stored in the transaction that moves a site's event pointer past a
// run that readers already see, and a channel is a consumer with a position of
// its own. A daemon that is killed in the middle of a request sends it again,
// with the same id. Several daemons on one database share the work by claims.
//
// It imports models alone: database, web, schedules and the way to mail
// come in through small interfaces, so that the guard of sync/fetch stands
// before every address that a user of the API may choose.
package notify
