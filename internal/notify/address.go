package notify

import (
	"net/mail"
	"net/url"
	"slices"
	"strings"

	"github.com/sitemapd/sitemapd/models"
)

// chats are the kinds whose address is the URL that their service gave, written KIND:URL.
var chats = []string{models.ChannelSlack, models.ChannelMattermost, models.ChannelDiscord, models.ChannelTeams, models.ChannelGoogleChat, models.ChannelNtfy}

const addressHint = "https://… for a webhook, mailto:NAME@HOST, or slack:, mattermost:, discord:, teams:, googlechat:, ntfy: before the URL that the service gave, or telegram:TOKEN@CHAT"

// maxAddress bounds what is stored of an address.
const maxAddress = 2048

// ParseAddress tells the kind of a channel from how its address is written, and gives the address as it is stored.
func ParseAddress(text string) (kind, address string, err error) {
	refuse := func(why string, args ...any) (string, string, error) {
		return "", "", models.Invalid("address", addressHint, why, args...)
	}
	text = strings.TrimSpace(text)
	scheme, rest, ok := strings.Cut(text, ":")
	scheme = strings.ToLower(scheme)
	switch {
	case !ok || len(text) > maxAddress || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return refuse("no address")
	case scheme == "http" || scheme == "https":
		if err := checkURL(text); err != "" {
			return refuse("%s", err)
		}
		return models.ChannelWebhook, text, nil
	case scheme == "mailto":
		list, err := recipients(rest)
		if err != nil {
			return refuse("%q is no mail address", rest)
		}
		return models.ChannelMail, strings.Join(list, ","), nil
	case scheme == models.ChannelTelegram:
		token, chat, ok := strings.Cut(rest, "@")
		if !ok || token == "" || chat == "" || strings.ContainsAny(token, "/?#% ") {
			return refuse("a bot's token and a chat are wanted")
		}
		return models.ChannelTelegram, rest, nil
	case slices.Contains(chats, scheme):
		if err := checkURL(rest); err != "" {
			return refuse("%s", err)
		}
		if u, _ := url.Parse(rest); scheme == models.ChannelNtfy && strings.Trim(u.Path, "/") == "" {
			return refuse("the URL names no topic")
		}
		return scheme, rest, nil
	}
	return refuse("%q is no kind of address", scheme)
}

func checkURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "the URL cannot be read" // the error repeats the URL, which may hold a secret
	case u.Scheme != "http" && u.Scheme != "https":
		return "want http:// or https://"
	case u.Hostname() == "":
		return "the URL names no host"
	case u.Fragment != "":
		return "the URL has a fragment"
	}
	return ""
}

// maxRecipients of one channel.
const maxRecipients = 20

// recipients reads mail addresses with commas between. Names beside them are not taken: they are a way into headers.
func recipients(text string) ([]string, error) {
	var list []string
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		address, err := mail.ParseAddress(part)
		if err != nil || address.Address != part || len(list) == maxRecipients {
			return nil, models.Invalid("address", "", "%q is no mail address", part)
		}
		list = append(list, part)
	}
	return list, nil
}

// Written gives an address in the form that ParseAddress reads.
func Written(c *models.Channel) string {
	switch c.Kind {
	case models.ChannelWebhook:
		return c.Address
	case models.ChannelMail:
		return "mailto:" + c.Address
	}
	return c.Kind + ":" + c.Address
}

// Shown gives an address as people and logs may see it: without user, password, query and, for chats, whose URL is the
// secret, without its path.
func Shown(c *models.Channel) string {
	switch c.Kind {
	case models.ChannelMail:
		return "mailto:" + c.Address
	case models.ChannelTelegram:
		_, chat, _ := strings.Cut(c.Address, "@")
		return "telegram:…@" + chat
	}
	u, err := url.Parse(c.Address)
	if err != nil {
		return c.Kind + ":…"
	}
	text := u.Scheme + "://" + u.Host
	if c.Kind != models.ChannelWebhook {
		return c.Kind + ":" + text + "/…"
	}
	if text += u.EscapedPath(); u.RawQuery != "" {
		text += "?…"
	}
	return text
}
