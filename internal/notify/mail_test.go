package notify_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	"net/mail"
	"strings"
	"testing"

	"github.com/sitemapd/sitemapd/internal/notify"
	"github.com/sitemapd/sitemapd/models"
)

// mailServer is a small SMTP server (RFC 5321) that keeps what it is given.
type mailServer struct {
	t        *testing.T
	address  string
	tls      *tls.Config
	implicit bool
	refuse   string // answer to the first recipient, "" to take it
	got      chan letter
}

type letter struct {
	from, auth string
	to         []string
	encrypted  bool
	content    string
}

func newMailServer(t *testing.T, change func(*mailServer)) *mailServer {
	t.Helper()
	m := &mailServer{t: t, got: make(chan letter, 10)}
	if change != nil {
		change(m)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if m.implicit {
		listener = tls.NewListener(listener, m.tls)
	}
	t.Cleanup(func() { _ = listener.Close() })
	m.address = listener.Addr().String()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go m.serve(conn)
		}
	}()
	return m
}

func (m *mailServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	var l letter
	l.encrypted = m.implicit
	in := bufio.NewReader(conn)
	say := func(text string) { _, _ = io.WriteString(conn, text+"\r\n") }
	say("220 mail.test ESMTP")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch strings.ToUpper(verb) {
		case "EHLO":
			extensions := "250-mail.test\r\n250-AUTH PLAIN\r\n"
			if m.tls != nil && !l.encrypted {
				extensions += "250-STARTTLS\r\n"
			}
			say(extensions + "250 8BITMIME")
		case "STARTTLS":
			say("220 go")
			secure := tls.Server(conn, m.tls)
			conn, in, l.encrypted = secure, bufio.NewReader(secure), true
		case "AUTH":
			_, encoded, _ := strings.Cut(rest, " ")
			plain, _ := base64.StdEncoding.DecodeString(encoded)
			l.auth = string(plain)
			say("235 ok")
		case "MAIL":
			l.from = rest
			say("250 ok")
		case "RCPT":
			if m.refuse != "" {
				say(m.refuse)
				continue
			}
			l.to = append(l.to, rest)
			say("250 ok")
		case "DATA":
			say("354 go")
			var b strings.Builder
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				if line == ".\r\n" {
					break
				}
				b.WriteString(line)
			}
			l.content = b.String()
			m.got <- l
			say("250 kept")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

// certificate gives a server's certificate for 127.0.0.1 and whom to trust for it.
func certificate(t *testing.T) (server, trust *tls.Config) {
	t.Helper()
	donor := httptest.NewUnstartedServer(nil)
	donor.StartTLS()
	t.Cleanup(donor.Close)
	pool := x509.NewCertPool()
	pool.AddCert(donor.Certificate())
	return &tls.Config{Certificates: donor.TLS.Certificates}, &tls.Config{RootCAs: pool}
}

func (w *world) mail(server notify.Mail, to string) notify.Result {
	w.t.Helper()
	e := hostileEvent(w.Site.ID)
	kind, address, err := notify.ParseAddress("mailto:" + to)
	if err != nil {
		w.t.Fatal(err)
	}
	sender := notify.NewSender(notify.SenderOptions{Mail: &server, PublicURL: "https://daemon.example", Timeout: patience})
	r, err := sender.Send(w.t.Context(), &models.Channel{ID: 3, Kind: kind, Address: address}, &e)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func TestMail_CarriesNothingForeignInHeadersAndNoMarkup(t *testing.T) {
	t.Parallel()
	certificates, trust := certificate(t)
	m := newMailServer(t, func(m *mailServer) { m.tls = certificates })
	w := newWorld(t, nil)
	r := w.mail(notify.Mail{Server: m.address, From: "Sitemap ü <sitemapd@example.com>", Username: "u", Password: "p", TLS: notify.MailSTARTTLS, Trust: trust}, "ops@example.com,web@example.org")
	if r.Error != "" {
		t.Fatal(r.Error)
	}
	l := <-m.got
	if !l.encrypted || l.auth != "\x00u\x00p" || len(l.to) != 2 || !strings.Contains(l.from, "<sitemapd@example.com>") {
		t.Errorf("%+v", l)
	}
	read, err := mail.ReadMessage(strings.NewReader(l.content))
	if err != nil {
		t.Fatal(err)
	}
	if read.Header.Get("Bcc") != "" || read.Header.Get("Auto-Submitted") != "auto-generated" || read.Header.Get("Message-Id") != "<evt_1.3@example.com>" {
		t.Errorf("%v", read.Header)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(read.Header.Get("Subject"))
	if err != nil || !strings.HasPrefix(subject, "example.com: https://example.com/<!channel>") || strings.ContainsAny(subject, "\r\n\x1b\u202e") {
		t.Errorf("%q, %v", subject, err)
	}
	_, parameters, err := mime.ParseMediaType(read.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	parts := multipart.NewReader(read.Body, parameters["boundary"])
	for _, want := range []string{"text/plain", "text/html"} {
		part, err := parts.NextRawPart()
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
		text, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil || kind != want || !strings.Contains(string(text), "https://daemon.example/sites/1/runs/7") {
			t.Errorf("%s: %s, %v", kind, text, err)
		}
		if want == "text/html" && (strings.Contains(string(text), "<script") || strings.Contains(string(text), "<!channel>") || strings.Count(string(text), "href=") != 1) {
			t.Errorf("%s", text)
		}
	}
}

func TestMail_IsEncryptedAsConfiguredOrNotSent(t *testing.T) {
	t.Parallel()
	certificates, trust := certificate(t)
	w := newWorld(t, nil)
	bare := newMailServer(t, nil)
	if r := w.mail(notify.Mail{Server: bare.address, From: "a@example.com", TLS: notify.MailSTARTTLS, Trust: trust}, "b@example.com"); r.Error == "" || len(bare.got) != 0 {
		t.Errorf("a server without STARTTLS was given a mail: %+v", r)
	}
	if r := w.mail(notify.Mail{Server: bare.address, From: "a@example.com", TLS: notify.MailPlain}, "b@example.com"); r.Error != "" || (<-bare.got).encrypted {
		t.Errorf("in the clear, as asked: %+v", r)
	}
	implicit := newMailServer(t, func(m *mailServer) { m.tls, m.implicit = certificates, true })
	if r := w.mail(notify.Mail{Server: implicit.address, From: "a@example.com", TLS: notify.MailTLS, Trust: trust}, "b@example.com"); r.Error != "" || !(<-implicit.got).encrypted {
		t.Errorf("encrypted from the first byte: %+v", r)
	}
	if r := w.mail(notify.Mail{Server: implicit.address, From: "a@example.com", TLS: notify.MailTLS}, "b@example.com"); r.Error == "" {
		t.Error("a certificate of nobody was trusted")
	}
}

func TestMail_SaysWhyAServerRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	m := newMailServer(t, func(m *mailServer) { m.refuse = "550 5.1.1 no such user" })
	if r := w.mail(notify.Mail{Server: m.address, From: "a@example.com", TLS: notify.MailPlain}, "b@example.com"); r.Status != 550 || !strings.Contains(r.Error, "no such user") {
		t.Errorf("%+v", r)
	}
	e := hostileEvent(1)
	r, err := w.sender.Send(t.Context(), &models.Channel{Kind: models.ChannelMail, Address: "b@example.com"}, &e)
	if err != nil || r.Error != "no mail server is configured: set mail.server and mail.from" {
		t.Errorf("%+v, %v", r, err)
	}
}
