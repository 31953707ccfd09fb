package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/sitemapd/sitemapd/models"
)

// Longest texts that services take, in bytes, with room for what surrounds them.
var longest = map[string]int{
	models.ChannelSlack: 3500, models.ChannelMattermost: 3500, models.ChannelDiscord: 1800, models.ChannelTeams: 8000,
	models.ChannelGoogleChat: 3800, models.ChannelNtfy: 3500, models.ChannelTelegram: 3800,
}

// harmless keeps a foreign text from being read as markup or from calling people together, service by service.
var harmless = map[string]*strings.Replacer{
	models.ChannelSlack:      strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;"), // so says its documentation: <!channel> and <url|text> are markup
	models.ChannelMattermost: strings.NewReplacer("@", "@\u200b", "[", "\\[", "`", "'"),   // no switch turns off @all in its webhooks
	models.ChannelDiscord:    strings.NewReplacer("[", "\\[", "`", "'"),                   // calls are off by allowed_mentions
	models.ChannelTeams:      strings.NewReplacer("[", "\\[", "<", "&lt;"),
	models.ChannelGoogleChat: strings.NewReplacer("<", "‹", ">", "›"), // <users/all> calls everybody
	models.ChannelNtfy:       strings.NewReplacer(),
	models.ChannelTelegram:   strings.NewReplacer(), // plain without a parse mode
}

// chat writes a message in the form of a service.
func (s *Sender) chat(ctx context.Context, c *models.Channel, m message) (*http.Request, error) {
	safe := harmless[c.Kind]
	if safe == nil {
		return nil, fmt.Errorf("unknown kind of channel %q", c.Kind)
	}
	title, lines := safe.Replace(m.Title), safe.Replace(strings.Join(m.Lines, "\n"))
	lines = shortened(lines, longest[c.Kind]-len(title))
	all := strings.TrimSpace(title + "\n" + lines + "\n" + m.Link)
	address, content := c.Address, map[string]any{}
	switch c.Kind {
	case models.ChannelSlack:
		content = map[string]any{"text": all, "unfurl_links": false}
	case models.ChannelMattermost, models.ChannelGoogleChat:
		content["text"] = all
	case models.ChannelDiscord:
		content = map[string]any{"content": all, "allowed_mentions": map[string]any{"parse": []string{}}, "flags": 4} // 4: no previews of links
	case models.ChannelTeams:
		content = adaptiveCard(title, lines, m.Link)
	case models.ChannelTelegram:
		token, chat, _ := strings.Cut(c.Address, "@")
		address = s.o.Telegram + "/bot" + token + "/sendMessage"
		content = map[string]any{"chat_id": chatID(chat), "text": all, "link_preview_options": map[string]any{"is_disabled": true}}
	case models.ChannelNtfy:
		return s.ntfy(ctx, c, title, lines, m.Link)
	}
	return postJSON(ctx, address, content)
}

func postJSON(ctx context.Context, address string, content any) (*http.Request, error) {
	encoded, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	return post(ctx, address, encoded)
}

// ntfy publishes as JSON to the server's root: titles in headers would be a way into others.
func (s *Sender) ntfy(ctx context.Context, c *models.Channel, title, lines, link string) (*http.Request, error) {
	u, err := url.Parse(c.Address)
	if err != nil {
		return nil, fmt.Errorf("the channel's address cannot be read")
	}
	topic, user := strings.Trim(u.Path, "/"), u.User
	prefix := ""
	if at := strings.LastIndex(topic, "/"); at >= 0 {
		prefix, topic = topic[:at+1], topic[at+1:]
	}
	u.Path, u.RawPath, u.RawQuery, u.User = "/"+prefix, "", "", nil
	content := map[string]any{"topic": topic, "title": title, "message": lines}
	if lines == "" {
		content["message"] = title
	}
	if link != "" {
		content["click"] = link
	}
	request, err := postJSON(ctx, u.String(), content)
	if err == nil && user != nil {
		if password, _ := user.Password(); user.Username() == "" {
			request.Header.Set("Authorization", "Bearer "+password)
		} else {
			request.SetBasicAuth(user.Username(), password)
		}
	}
	return request, err
}

// adaptiveCard is what workflows of Teams take.
func adaptiveCard(title, lines, link string) map[string]any {
	blocks := []map[string]any{{"type": "TextBlock", "text": title, "weight": "bolder", "wrap": true}}
	for line := range strings.SplitSeq(lines, "\n") {
		if line != "" {
			blocks = append(blocks, map[string]any{"type": "TextBlock", "text": line, "wrap": true, "spacing": "none"})
		}
	}
	card := map[string]any{"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4", "body": blocks}
	if link != "" {
		card["actions"] = []map[string]any{{"type": "Action.OpenUrl", "title": "Open", "url": link}}
	}
	return map[string]any{"type": "message", "attachments": []map[string]any{{"contentType": "application/vnd.microsoft.card.adaptive", "content": card}}}
}

// chatID is a number, or the name of a public channel, which Telegram writes with an @.
func chatID(chat string) string {
	if strings.TrimLeft(chat, "-0123456789") == "" {
		return chat
	}
	return "@" + chat
}

func shortened(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:max(limit, 0)], "") + "…"
}
