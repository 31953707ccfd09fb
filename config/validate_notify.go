package config

import (
	"net"
	"net/mail"
	"time"
)

func (k checker) notify(n Notify) {
	k.duration("notify.timeout", n.Timeout, time.Second, time.Minute)
	k.duration("notify.disable_after", n.DisableAfter, time.Hour, year)
	k.duration("notify.keep", n.Keep, day, 10*year)
	for _, prefix := range n.AllowPrivate {
		if prefix.Bits() == 0 {
			k.add("notify.allow_private", "name the networks that are meant", "%s would allow every address", prefix)
		}
	}
}

func (k checker) mail(m Mail) {
	k.oneOf("mail.tls", m.TLS, "starttls", "tls", "none")
	if m.Server == "" {
		if m.From != "" || m.Username != "" {
			k.add("mail.server", "write for example smtp.example.com:587", "is missing")
		}
		return
	}
	if host, port, err := net.SplitHostPort(m.Server); err != nil || host == "" || port == "" {
		k.add("mail.server", "write for example smtp.example.com:587", "%q is no HOST:PORT", m.Server)
	}
	if _, err := mail.ParseAddress(m.From); err != nil {
		k.add("mail.from", "write for example sitemapd@example.com", "%q is no mail address", m.From)
	}
	if (m.Username == "") != (m.Password == "") {
		k.add("mail.username", "", "and password belong together: one of them is missing")
	}
	if m.Username != "" && m.TLS == "none" {
		k.add("mail.tls", "choose starttls or tls", "the password would be sent in the clear")
	}
}
