package sitemap

import (
	"errors"
	"strings"
)

// Text is a declared text, decoded and trimmed. In JSON it is a string.
type Text []byte

// MarshalText lets Text stand in JSON as a string.
func (t Text) MarshalText() ([]byte, error) { return t, nil }

// UnmarshalText takes a copy of b.
func (t *Text) UnmarshalText(b []byte) error {
	*t = append((*t)[:0:0], b...)
	return nil
}

// String returns the text.
func (t Text) String() string { return string(t) }

// Number is a declared decimal number in canonical form: no sign but "-", no leading or trailing zeros. In JSON it is a
// number.
type Number []byte

// MarshalJSON writes the digits.
func (n Number) MarshalJSON() ([]byte, error) {
	if len(n) == 0 {
		return []byte("null"), nil
	}
	return n, nil
}

// UnmarshalJSON takes a number, or a string that holds one.
func (n *Number) UnmarshalJSON(b []byte) error {
	canonical, ok := appendNumber(nil, []byte(strings.Trim(string(b), `"`)))
	if !ok {
		return errors.New("not a plain decimal number")
	}
	*n = canonical
	return nil
}

// String returns the digits.
func (n Number) String() string { return string(n) }

// Flag is a declared "yes" or "no". In JSON it is a boolean.
type Flag uint8

// The states of a flag.
const (
	Unset Flag = iota
	Yes
	No
)

// MarshalJSON writes true or false.
func (f Flag) MarshalJSON() ([]byte, error) {
	switch f {
	case Yes:
		return []byte("true"), nil
	case No:
		return []byte("false"), nil
	}
	return []byte("null"), nil
}

// UnmarshalJSON takes true, false or null.
func (f *Flag) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "true", `"yes"`:
		*f = Yes
	case "false", `"no"`:
		*f = No
	default:
		*f = Unset
	}
	return nil
}

// String gives "yes", "no" or "".
func (f Flag) String() string { return [...]string{"", "yes", "no"}[f] }

// Extensions holds every extension block of a declaration, free of the reader's buffers.
type Extensions struct {
	Alternates []Alternate  `json:"alternates,omitempty"`
	Images     []Image      `json:"images,omitempty"`
	Videos     []Video      `json:"videos,omitempty"`
	News       *News        `json:"news,omitempty"`
	Mobile     *Mobile      `json:"mobile,omitempty"`
	PageMap    []DataObject `json:"pagemap,omitempty"`
}

// Alternate is one xhtml:link of an entry: the same page for another language, or for another medium.
type Alternate struct {
	Hreflang Text `json:"hreflang,omitempty"` // as published; see the finding alternate-hreflang-invalid
	Href     Text `json:"href,omitempty"`     // absolute
	Media    Text `json:"media,omitempty"`
	Rel      Text `json:"rel,omitempty"` // only when it is another than "alternate"
	Type     Text `json:"type,omitempty"`
}

// Image is one image:image of an entry (Google's image sitemap 1.1; all but loc have been without effect since 2022).
type Image struct {
	Loc         Text `json:"loc,omitempty"`
	Title       Text `json:"title,omitempty"`
	Caption     Text `json:"caption,omitempty"`
	GeoLocation Text `json:"geo_location,omitempty"`
	License     Text `json:"license,omitempty"`
}

// Mobile is the mobile:mobile mark of an entry.
type Mobile struct {
	Type Text `json:"type,omitempty"`
}

// Publication is the paper of a news entry.
type Publication struct {
	Name     Text `json:"name,omitempty"`
	Language Text `json:"language,omitempty"`
}

// News is the news:news of an entry (Google's news sitemap 0.9, with the fields that were withdrawn in 2015 and 2019).
type News struct {
	Publication     Publication `json:"publication,omitzero"`
	PublicationDate Text        `json:"publication_date,omitempty"` // as published
	Title           Text        `json:"title,omitempty"`
	Keywords        Text        `json:"keywords,omitempty"`
	Genres          Text        `json:"genres,omitempty"`
	Access          Text        `json:"access,omitempty"`
	StockTickers    Text        `json:"stock_tickers,omitempty"`
	GeoLocations    Text        `json:"geo_locations,omitempty"`
}

// Video is one video:video of an entry (Google's video sitemap 1.1, withdrawn fields included). ContentLoc is the media
// file, PlayerLoc a page that plays it; the two are never merged.
type Video struct {
	ThumbnailLoc         Text             `json:"thumbnail_loc,omitempty"`
	Title                Text             `json:"title,omitempty"`
	Description          Text             `json:"description,omitempty"`
	ContentLoc           Text             `json:"content_loc,omitempty"`
	PlayerLoc            Text             `json:"player_loc,omitempty"`
	PlayerAllowEmbed     Flag             `json:"player_allow_embed,omitempty"`
	PlayerAutoplay       Text             `json:"player_autoplay,omitempty"`
	Duration             Number           `json:"duration,omitempty"` // seconds
	ExpirationDate       Text             `json:"expiration_date,omitempty"`
	Rating               Number           `json:"rating,omitempty"`
	ViewCount            Number           `json:"view_count,omitempty"`
	PublicationDate      Text             `json:"publication_date,omitempty"`
	FamilyFriendly       Flag             `json:"family_friendly,omitempty"`
	RequiresSubscription Flag             `json:"requires_subscription,omitempty"`
	Live                 Flag             `json:"live,omitempty"`
	Restriction          Scoped           `json:"restriction,omitzero"`
	Platform             Scoped           `json:"platform,omitzero"`
	Uploader             Uploader         `json:"uploader,omitzero"`
	Gallery              Gallery          `json:"gallery,omitzero"`
	Category             Text             `json:"category,omitempty"`
	Tags                 []Text           `json:"tags,omitempty"`
	Prices               []Price          `json:"prices,omitempty"`
	Segments             []ContentSegment `json:"content_segments,omitempty"`
	IDs                  []VideoID        `json:"ids,omitempty"`
	TVShow               TVShow           `json:"tvshow,omitzero"`
}

// Scoped is a list of countries or platforms with the relationship that makes it mean "only" or "all but".
type Scoped struct {
	Relationship Text `json:"relationship,omitempty"` // allow or deny
	Value        Text `json:"value,omitempty"`
}

// IsZero tells whether it was not declared.
func (s Scoped) IsZero() bool { return len(s.Relationship) == 0 && len(s.Value) == 0 }

// Uploader names who put the video up.
type Uploader struct {
	Name Text `json:"name,omitempty"`
	Info Text `json:"info,omitempty"` // URL of a page about the uploader
}

// IsZero tells whether it was not declared.
func (u Uploader) IsZero() bool { return len(u.Name) == 0 && len(u.Info) == 0 }

// Gallery is a page on which the video appears.
type Gallery struct {
	Loc   Text `json:"loc,omitempty"`
	Title Text `json:"title,omitempty"`
}

// IsZero tells whether it was not declared.
func (g Gallery) IsZero() bool { return len(g.Loc) == 0 && len(g.Title) == 0 }

// Price is what downloading or viewing costs.
type Price struct {
	Currency   Text `json:"currency,omitempty"`
	Type       Text `json:"type,omitempty"`
	Resolution Text `json:"resolution,omitempty"`
	Value      Text `json:"value,omitempty"` // as published
}

// ContentSegment is one piece of a video that comes in several files.
type ContentSegment struct {
	Loc      Text   `json:"loc,omitempty"`
	Duration Number `json:"duration,omitempty"`
}

// VideoID is an identifier of the video in some system.
type VideoID struct {
	Type  Text `json:"type,omitempty"`
	Value Text `json:"value,omitempty"`
}

// TVShow places the video in a series.
type TVShow struct {
	ShowTitle     Text   `json:"show_title,omitempty"`
	VideoType     Text   `json:"video_type,omitempty"`
	EpisodeTitle  Text   `json:"episode_title,omitempty"`
	SeasonNumber  Number `json:"season_number,omitempty"`
	EpisodeNumber Number `json:"episode_number,omitempty"`
	PremierDate   Text   `json:"premier_date,omitempty"`
}

// IsZero tells whether it was not declared.
func (t TVShow) IsZero() bool {
	return len(t.ShowTitle) == 0 && len(t.VideoType) == 0 && len(t.EpisodeTitle) == 0 && len(t.SeasonNumber) == 0 &&
		len(t.EpisodeNumber) == 0 && len(t.PremierDate) == 0
}

// IsZero tells whether it was not declared.
func (p Publication) IsZero() bool { return len(p.Name) == 0 && len(p.Language) == 0 }

// DataObject is one object of a PageMap.
type DataObject struct {
	Type       Text        `json:"type,omitempty"`
	ID         Text        `json:"id,omitempty"`
	Attributes []Attribute `json:"attributes,omitempty"`
}

// Attribute is one name and value of a DataObject.
type Attribute struct {
	Name  Text `json:"name,omitempty"`
	Value Text `json:"value,omitempty"`
}
