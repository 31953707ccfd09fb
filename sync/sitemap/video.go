package sitemap

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"
)

// beginVideo opens a video:video.
func (r *Reader) beginVideo(pos int) {
	b := &r.entry.blocks
	if len(b.videos) >= r.opt.MaxVideos {
		r.report(codeBlockLimit, pos, nil)
		r.skipElement()
		return
	}
	if len(b.videos) < cap(b.videos) { // the lists of an earlier entry's video serve again
		b.videos = b.videos[:len(b.videos)+1]
		v := &b.videos[len(b.videos)-1]
		*v = Video{Tags: v.Tags[:0], Prices: v.Prices[:0], Segments: v.Segments[:0], IDs: v.IDs[:0]}
	} else {
		b.videos = append(b.videos, Video{})
	}
	r.d.Videos = b.videos
	b.video = &b.videos[len(b.videos)-1]
	r.enter(inVideo)
}

// finishVideo judges a video:video as a whole.
func (r *Reader) finishVideo() {
	v := r.entry.blocks.video
	if v == nil || r.entry.cut {
		return
	}
	pos := r.win.r
	for _, required := range [...]struct {
		text Text
		name string
	}{{v.ThumbnailLoc, "thumbnail_loc"}, {v.Title, "title"}, {v.Description, "description"}} {
		if len(required.text) == 0 {
			r.report(codeVideoMissing, pos, []byte(required.name))
		}
	}
	if len(v.ContentLoc) == 0 && len(v.PlayerLoc) == 0 {
		r.report(codeVideoNoLocator, pos, v.Title)
	}
	if len(v.Tags) > 32 {
		r.report(codeVideoTags, pos, v.Title)
	}
	if n := utf8.RuneCount(v.Description); n > 2048 {
		r.report(codeVideoLong, pos, []byte("description"))
	}
	if n := utf8.RuneCount(v.Uploader.Name); n > 255 {
		r.report(codeVideoLong, pos, []byte("uploader"))
	}
	r.entry.blocks.video = nil
	r.canon = appendVideo(r.canon[:0], v, &r.urls)
	r.entry.blocks.sum.add(r.canon, nil)
}

// openInVideo deals with what stands in a video:video or its video:tvshow.
func (r *Reader) openInVideo(ctx context, fam family, el element, pos int) {
	v := r.entry.blocks.video
	el = r.inBlock(fam, famVideo, el, pos)
	if v == nil {
		r.skipElement()
		return
	}
	switch el {
	case elUnknown:
		r.skipElement()
	case elVideo:
		r.report(codeEntryNotClosed, pos, r.tag.name)
		for c := r.context(); c == inVideo || c == inTVShow; c = r.context() {
			r.pop()
		}
		r.open(fam, el, pos)
	case elTVShow:
		r.enter(inTVShow)
	case elThumbnailLoc:
		r.setURL(&v.ThumbnailLoc, pos)
	case elContentLoc:
		r.setURL(&v.ContentLoc, pos)
	case elPlayerLoc:
		v.PlayerAllowEmbed = r.flagOf(r.attr("allow_embed"), pos)
		v.PlayerAutoplay = r.attr("autoplay")
		r.setURL(&v.PlayerLoc, pos)
	case elTag:
		if text := r.leafText(); len(text) > 0 {
			v.Tags = append(v.Tags, text)
		}
	case elPrice:
		p := Price{Currency: r.attr("currency"), Type: r.attr("type"), Resolution: r.attr("resolution")}
		p.Value = r.leafText()
		v.Prices = append(v.Prices, p)
	case elSegmentLoc:
		s := ContentSegment{Duration: r.numberOf(r.attr("duration"), whole, 1, math.MaxInt32, pos)}
		if s.Loc, _ = r.leafURL(); len(s.Loc) > 0 {
			v.Segments = append(v.Segments, s)
		}
	case elVideoID:
		id := VideoID{Type: r.attr("type")}
		if id.Value = r.leafText(); len(id.Value) > 0 {
			v.IDs = append(v.IDs, id)
		}
	case elRestriction:
		r.setScoped(&v.Restriction, countryCode, pos)
	case elPlatform:
		r.setScoped(&v.Platform, platformName, pos)
	case elUploader:
		info, _ := r.attrURL("info", pos)
		r.setText(&v.Uploader.Name, pos)
		v.Uploader.Info = info
	case elGalleryLoc:
		v.Gallery.Title = r.attr("title")
		r.setURL(&v.Gallery.Loc, pos)
	default:
		r.videoValue(v, el, pos)
	}
}

// videoValue deals with the plain fields.
func (r *Reader) videoValue(v *Video, el element, pos int) {
	switch el {
	case elTitle:
		r.setText(&v.Title, pos)
	case elDescription:
		r.setText(&v.Description, pos)
	case elCategory:
		r.setText(&v.Category, pos)
	case elExpirationDate:
		r.setDate(&v.ExpirationDate, codeVideoInvalid, pos)
	case elPublicationDate:
		r.setDate(&v.PublicationDate, codeVideoInvalid, pos)
	case elDuration:
		v.Duration = r.numberOf(r.leafText(), whole, 1, 28800, pos) // seconds: eight hours
	case elRating:
		v.Rating = r.numberOf(r.leafText(), decimal, 0, 5, pos)
	case elViewCount:
		v.ViewCount = r.numberOf(r.leafText(), whole, 0, math.MaxInt64, pos)
	case elFamilyFriendly:
		v.FamilyFriendly = r.flagOf(r.leafText(), pos)
	case elRequiresSubscription:
		v.RequiresSubscription = r.flagOf(r.leafText(), pos)
	case elLive:
		v.Live = r.flagOf(r.leafText(), pos)
	case elShowTitle:
		r.setText(&v.TVShow.ShowTitle, pos)
	case elVideoType:
		r.setText(&v.TVShow.VideoType, pos)
	case elEpisodeTitle:
		r.setText(&v.TVShow.EpisodeTitle, pos)
	case elSeasonNumber:
		v.TVShow.SeasonNumber = r.numberOf(r.leafText(), whole, 0, math.MaxInt32, pos)
	case elEpisodeNumber:
		v.TVShow.EpisodeNumber = r.numberOf(r.leafText(), whole, 0, math.MaxInt32, pos)
	case elPremierDate:
		r.setDate(&v.TVShow.PremierDate, codeVideoInvalid, pos)
	default:
		r.skipElement()
	}
}

// setText takes a leaf's text for a field that is still empty.
func (r *Reader) setText(field *Text, pos int) {
	if len(*field) > 0 {
		r.report(codeElementRepeated, pos, r.tag.name)
		r.skipElement()
		return
	}
	*field = r.leafText()
}

// setURL is setText for an address.
func (r *Reader) setURL(field *Text, pos int) {
	if len(*field) > 0 {
		r.report(codeElementRepeated, pos, r.tag.name)
		r.skipElement()
		return
	}
	*field, _ = r.leafURL()
}

// setDate is setText for a date: one that is not understood is reported and dropped.
func (r *Reader) setDate(field *Text, c code, pos int) {
	start := r.win.base + int64(pos)
	r.setText(field, pos)
	if len(*field) == 0 {
		return
	}
	if l, _ := parseDate(*field); l.State == Invalid {
		r.report(c, r.win.at(start), *field)
		*field = nil
	}
}

// setScoped reads a list with the relationship attribute that says what it means.
func (r *Reader) setScoped(field *Scoped, known func(word []byte) bool, pos int) {
	if !field.IsZero() {
		r.report(codeElementRepeated, pos, r.tag.name)
		r.skipElement()
		return
	}
	relationship := r.attr("relationship")
	if word := string(bytes.ToLower(relationship)); word != "allow" && word != "deny" {
		r.report(codeVideoInvalid, pos, r.tag.name)
	}
	*field = Scoped{Relationship: relationship, Value: r.leafText()}
	for word := range bytes.FieldsSeq(field.Value) {
		if !known(word) {
			r.report(codeVideoWord, min(pos, r.win.r), word)
			return // one word tells enough
		}
	}
}

// countryCode says whether a word has the form of an ISO 3166-1 alpha-2 code.
func countryCode(word []byte) bool {
	return len(word) == 2 && letter(word[0]) && letter(word[1])
}

// platformName says whether a word is one of the three that video:platform knows.
func platformName(word []byte) bool {
	switch string(bytes.ToLower(word)) {
	case "web", "mobile", "tv":
		return true
	}
	return false
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// numeral is the kind of number that a field takes.
type numeral bool

const (
	whole   numeral = false
	decimal numeral = true
)

// numberOf takes a plain decimal number from lo to hi; anything else is reported and dropped.
func (r *Reader) numberOf(text []byte, kind numeral, lo, hi float64, pos int) Number {
	if len(text) == 0 {
		return nil
	}
	n, ok := appendNumber(r.canon[:0], text)
	r.canon = n
	if ok && kind == whole {
		ok = bytes.IndexByte(n, '.') < 0
	}
	if ok {
		f, err := strconv.ParseFloat(string(n), 64)
		ok = err == nil && f >= lo && f <= hi
	}
	if !ok {
		r.report(codeVideoInvalid, min(pos, r.win.r), text)
		return nil
	}
	return r.memory.keep(n)
}

// flagOf takes yes or no, in the spellings that are met.
func (r *Reader) flagOf(text []byte, pos int) Flag {
	switch string(bytes.ToLower(text)) {
	case "":
		return Unset
	case "yes", "true", "1", "y":
		return Yes
	case "no", "false", "0", "n":
		return No
	}
	r.report(codeVideoInvalid, min(pos, r.win.r), text)
	return Unset
}

// appendNumber writes a plain decimal number in canonical form: no plus sign, no zeros that say nothing.
func appendNumber(dst, b []byte) ([]byte, bool) {
	if len(b) > 0 && (b[0] == '+' || b[0] == '-') {
		if b[0] == '-' {
			dst = append(dst, '-')
		}
		b = b[1:]
	}
	whole, part, _ := bytes.Cut(b, []byte("."))
	if len(b) == 0 || len(b) > 64 || len(whole)+len(part) == 0 {
		return dst, false
	}
	for _, c := range b {
		if c != '.' && (c < '0' || c > '9') {
			return dst, false
		}
	}
	if bytes.IndexByte(part, '.') >= 0 {
		return dst, false
	}
	whole = bytes.TrimLeft(whole, "0")
	part = bytes.TrimRight(part, "0")
	if len(whole) == 0 {
		whole = []byte("0")
	}
	dst = append(dst, whole...)
	if len(part) > 0 {
		dst = append(append(dst, '.'), part...)
	} else if string(dst) == "-0" {
		dst = append(dst[:0], '0')
	}
	return dst, true
}
