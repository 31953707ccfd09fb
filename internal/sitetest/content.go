package sitetest

import (
	"strconv"
	"strings"
	"time"
)

// Kinds of what a site lists; the words are WordPress' own.
const (
	kindPost     = "post"
	kindPage     = "page"
	kindCategory = "category"
	kindTag      = "post_tag"
	kindAuthor   = "author"
)

type status uint8

const (
	published status = iota
	draft
	trashed
	deleted
)

// post is a post or a page.
type post struct {
	id                    uint32
	page                  bool
	status                status
	slug                  string
	date, modified        time.Time
	category, tag, author int // -1: none
	image                 bool
}

// mix is splitmix64: a number for each (seed, value), the same everywhere.
func mix(seed, value uint64) uint64 {
	z := seed + value*0x9e3779b97f4a7c15 + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

var (
	firstDate = time.Date(2015, 1, 1, 8, 0, 0, 0, time.UTC)
	lastDate  = time.Date(2025, 12, 31, 20, 0, 0, 0, time.UTC)
)

// seeded makes the original content of an ID: IDs 1..Posts are posts, then
// pages. Dates rise with the ID; a third were changed later than published.
func (s *Site) seeded(id uint32) post {
	h := mix(s.opt.Seed, uint64(id))
	span := lastDate.Sub(firstDate) / time.Duration(s.seededIDs+1)
	p := post{id: id, page: int(id) > s.opt.Posts, category: -1, tag: -1, author: -1}
	p.date = firstDate.Add(span * time.Duration(id)).Truncate(time.Second)
	p.modified = p.date
	if h%3 == 0 {
		p.modified = p.date.Add(time.Duration(h>>8%(400*24*3600)) * time.Second)
		if p.modified.After(lastDate) {
			p.modified = lastDate
		}
	}
	p.slug = seededSlug(h, id)
	if p.page {
		return p
	}
	p.image = h%4 == 1
	p.category = pick(mix(h, 1), s.opt.Categories)
	p.tag = pick(mix(h, 2), s.opt.Tags)
	p.author = pick(mix(h, 3), s.opt.Users)
	return p
}

func pick(h uint64, n int) int {
	if n <= 0 {
		return -1
	}
	return int(h % uint64(n))
}

// seededSlug is a few words and the ID, which makes it unique and lets slugID
// find the ID again without a table. Every twentieth holds percent-encoded
// letters in lower-case hex, as WordPress writes them.
func seededSlug(h uint64, id uint32) string {
	var b strings.Builder
	if h%20 == 0 {
		b.WriteString("%e6%97%a5%e6%9c%ac-")
	}
	for n := 3 + h>>16%4; n > 0; n-- {
		h = mix(h, n)
		// A product of two draws is skewed towards the front of the list.
		b.WriteString(words[h%uint64(len(words))*(h>>32%uint64(len(words)))/uint64(len(words))])
		b.WriteByte('-')
	}
	b.WriteString(strconv.FormatUint(uint64(id), 10))
	return b.String()
}

func slugID(slug string) (uint32, bool) {
	i := strings.LastIndexByte(slug, '-')
	n, err := strconv.ParseUint(slug[i+1:], 10, 32)
	return uint32(n), err == nil && i >= 0 && n > 0
}

// title is what a page calls itself.
func title(slug string) string {
	return strings.ReplaceAll(strings.ReplaceAll(slug, "%e6%97%a5%e6%9c%ac", "日本"), "-", " ")
}

func termSlug(kind string, n int) string {
	switch kind {
	case kindCategory:
		return "topic-" + strconv.Itoa(n+1)
	case kindTag:
		return "label-" + strconv.Itoa(n+1)
	}
	return "writer-" + strconv.Itoa(n+1)
}

// termNumber undoes termSlug.
func termNumber(kind, slug string) (int, bool) {
	prefix := termSlug(kind, 0)
	rest, ok := strings.CutPrefix(slug, prefix[:len(prefix)-1])
	n, err := strconv.Atoi(rest)
	return n - 1, ok && err == nil && n > 0 && rest == strconv.Itoa(n)
}

var words = strings.Fields(`the of and to in for on with how new best guide from your what why when
	garden kitchen market river mountain winter summer spring autumn weather travel city village house
	music film book story letter number paper bread butter coffee tea water wine cheese apple orange
	bicycle train station bridge harbour island forest meadow field flower tree leaf stone wood iron
	copper silver golden blue green yellow white black small large early late quick slow quiet loud
	first second third last open closed simple useful careful honest modern ancient local public
	school teacher student lesson question answer problem reason method result measure balance budget
	price value trade craft design pattern colour shape sound light shadow morning evening night week
	month year season history future people family friend neighbour visitor worker farmer baker doctor
	engine machine tool hammer needle thread fabric leather glass window door garden-wall rooftop cellar
	recipe dinner breakfast picnic festival concert theatre museum library archive journal review
	report notes sketch drawing painting photograph camera lantern compass map route path trail summit
	valley coast beach lighthouse sailor ferry canal mill bakery tavern square fountain statue tower`)
