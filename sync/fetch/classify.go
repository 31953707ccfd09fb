package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// fail turns an error of the transport into an outcome. The sentence is for API
// users, so it tells no address; the error itself is kept for the log.
func (r *Result) fail(parent, ctx context.Context, err error) {
	r.detail = err
	r.Outcome, r.Reason, r.retryable = classify(parent, ctx, err)
}

func classify(parent, ctx context.Context, err error) (outcome Outcome, reason string, retryable bool) {
	var dns *net.DNSError
	var network net.Error
	switch {
	case parent.Err() != nil:
		return Cancelled, "the fetch was cancelled", false
	case errors.Is(context.Cause(ctx), ErrTimeout):
		return Timeout, "the server did not answer in time", true
	case errors.Is(err, ssrf.ErrProhibitedPort):
		return BlockedAddress, "the port is not allowed", false
	case errors.Is(err, ssrf.ErrProhibitedIP), errors.Is(err, ssrf.ErrProhibitedNetwork), errors.Is(err, ssrf.ErrInvalidHostPort):
		return BlockedAddress, "the host's address is private or reserved and not allowed", false
	case errors.As(err, &dns):
		if dns.IsNotFound {
			return DNS, "the host name does not exist", false
		}
		return DNS, "the host name could not be resolved", true
	case isTLS(err):
		return TLS, tlsReason(err), false
	case errors.Is(err, syscall.ECONNREFUSED):
		return Refused, "the server refused the connection", true
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return Refused, "the server is unreachable", true
	case errors.As(err, &network) && network.Timeout():
		return Timeout, "the server did not answer in time", true
	case strings.Contains(err.Error(), "header") && strings.Contains(err.Error(), "exceeded"):
		return Protocol, "the response header is too large", false
	}
	return Protocol, "the server broke off or gave no valid HTTP answer", true
}

func isTLS(err error) bool {
	var record tls.RecordHeaderError
	var verify *tls.CertificateVerificationError
	var alert tls.AlertError
	return errors.As(err, &record) || errors.As(err, &verify) || errors.As(err, &alert) ||
		errors.Is(err, http.ErrSchemeMismatch) || strings.Contains(err.Error(), "tls: ")
}

func tlsReason(err error) string {
	var name x509.HostnameError
	var authority x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name):
		return "the certificate is for another host"
	case errors.As(err, &authority):
		return "the certificate is signed by an unknown authority"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate has expired or is not yet valid"
	case errors.Is(err, http.ErrSchemeMismatch):
		return "the server speaks http on this https port"
	}
	return "no secure connection could be made"
}

// passing reports whether a status is worth asking again within seconds.
func passing(status int) bool {
	switch status {
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported, http.StatusNetworkAuthenticationRequired:
		return false
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= 500
}

const maxDeclaredRetryAfter = 24 * time.Hour

// retryAfter reads RFC 9110 section 10.2.3: seconds or an HTTP date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if value == "" {
		return 0
	}
	var pause time.Duration
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		pause = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		if date, err := http.ParseTime(h.Get("Date")); err == nil {
			now = date // the sender's own clock
		}
		pause = at.Sub(now)
	}
	return min(max(pause, 0), maxDeclaredRetryAfter)
}

// age reads RFC 9111 section 5.1; nonsense is no age.
func age(h http.Header) time.Duration {
	seconds, err := strconv.ParseUint(strings.TrimSpace(h.Get("Age")), 10, 31)
	if err != nil || seconds > 366*24*3600 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
