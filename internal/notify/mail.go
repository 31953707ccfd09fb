package notify

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"html/template"
	"net"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/sitemapd/sitemapd/models"
)

// Mail says how mail leaves. The server is the operator's choice, made in the configuration alone, so it may be in a
// private network: the guard stands before addresses that users of the API choose, and those choose recipients here.
type Mail struct {
	Server   string // HOST:PORT
	Username string
	Password string
	From     string      // an address, or Name <address>
	TLS      string      // starttls (required), tls (from the first byte) or none
	Trust    *tls.Config // nil: the system's authorities
}

// Kinds of protection of the way to the mail server.
const (
	MailSTARTTLS = "starttls"
	MailTLS      = "tls"
	MailPlain    = "none"
)

func (m *Mail) client(timeout time.Duration) (*gomail.Client, error) {
	host, port, err := net.SplitHostPort(m.Server)
	if err != nil {
		return nil, fmt.Errorf("mail server: %w", err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return nil, fmt.Errorf("mail server: %w", err)
	}
	options := []gomail.Option{gomail.WithTimeout(timeout), gomail.WithoutNoop()}
	switch m.TLS {
	case MailTLS:
		options = append(options, gomail.WithSSL())
	case MailPlain:
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if m.Trust != nil {
		trust := m.Trust.Clone()
		trust.ServerName = host
		options = append(options, gomail.WithTLSConfig(trust))
	}
	if m.Username != "" {
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(m.Username), gomail.WithPassword(m.Password))
	}
	// After the other options: the port of the server wins over the ones that TLS policies bring.
	return gomail.NewClient(host, append(options, gomail.WithPort(number))...)
}

// send brings one message to the channel's addresses.
func (m *Mail) send(ctx context.Context, c *models.Channel, e *models.Event, text message) Result {
	if m == nil {
		return Result{Error: "no mail server is configured: set mail.server and mail.from"}
	}
	letter, err := m.letter(c, e, text)
	if err != nil {
		return Result{Error: oneLine(err.Error())}
	}
	deadline, _ := ctx.Deadline()
	client, err := m.client(max(time.Until(deadline), time.Second))
	if err != nil {
		return Result{Error: oneLine(err.Error())}
	}
	if err := client.DialAndSendWithContext(ctx, letter); err != nil {
		var sent *gomail.SendError
		r := Result{Error: oneLine(err.Error())}
		if errors.As(err, &sent) {
			r.Status = sent.ErrorCode()
		}
		return r
	}
	return Result{}
}

// letter writes a mail. What a site says stands in bodies alone, encoded, and in the subject on one line.
func (m *Mail) letter(c *models.Channel, e *models.Event, text message) (*gomail.Msg, error) {
	letter := gomail.NewMsg()
	if err := letter.From(m.From); err != nil {
		return nil, fmt.Errorf("mail.from: %w", err)
	}
	list, err := recipients(c.Address)
	if err != nil {
		return nil, err
	}
	if err := letter.To(list...); err != nil {
		return nil, fmt.Errorf("recipients: %w", err)
	}
	letter.Subject(shortened(oneLine(text.Title), 200))
	letter.SetDateWithValue(e.At)
	letter.SetMessageIDWithValue(e.UID + "." + strconv.FormatInt(c.ID, 10) + "@" + m.domain())
	letter.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: absence notes are not wanted
	letter.SetGenHeader("X-Sitemapd-Event", e.Type)
	var html strings.Builder
	if err := letterHTML.Execute(&html, text); err != nil {
		return nil, fmt.Errorf("write the HTML of a mail: %w", err)
	}
	letter.SetBodyString(gomail.TypeTextPlain, plain(text))
	letter.AddAlternativeString(gomail.TypeTextHTML, html.String())
	return letter, nil
}

func (m *Mail) domain() string {
	if _, domain, ok := strings.Cut(strings.Trim(m.From, "> "), "@"); ok {
		return domain
	}
	return "localhost"
}

func plain(text message) string {
	var b strings.Builder
	b.WriteString(text.Title + "\n")
	if len(text.Lines) > 0 {
		b.WriteString("\n" + strings.Join(text.Lines, "\n") + "\n")
	}
	if text.Link != "" {
		b.WriteString("\n" + text.Link + "\n")
	}
	return b.String()
}

// letterHTML escapes by place. It loads nothing and links to the daemon alone, never to what a site wrote.
var letterHTML = template.Must(template.New("letter").Parse(`<!doctype html>
<html><body style="font-family:sans-serif">
<p><strong>{{.Title}}</strong></p>
{{if .Lines}}<ul>{{range .Lines}}{{if .}}<li>{{.}}</li>{{end}}{{end}}</ul>{{end}}
{{if .Link}}<p><a href="{{.Link}}">Open in sitemapd</a></p>{{end}}
</body></html>
`))
