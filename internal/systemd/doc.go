// Package systemd tells the service manager how the daemon is: ready, stopping, alive.
//
// It promises to do nothing at all where no service manager asks (NOTIFY_SOCKET is not
// set), so that callers need not know where they run. The protocol is sd_notify(3): one
// datagram of KEY=value lines to a Unix socket. It imports nothing of ours.
package systemd
