package sitemap

// element is a known element, told by family and local name.
type element uint8

const (
	elUnknown element = iota
	elURLSet
	elSitemapIndex
	elURL
	elSitemap
	elLoc
	elLastmod
	elChangefreq
	elPriority

	elImage
	elImageLoc
	elTitle
	elCaption
	elGeoLocation
	elLicense

	elVideo
	elThumbnailLoc
	elDescription
	elContentLoc
	elPlayerLoc
	elDuration
	elExpirationDate
	elRating
	elViewCount
	elPublicationDate
	elFamilyFriendly
	elRequiresSubscription
	elLive
	elRestriction
	elPlatform
	elUploader
	elGalleryLoc
	elCategory
	elTag
	elPrice
	elSegmentLoc
	elVideoID
	elTVShow
	elShowTitle
	elVideoType
	elEpisodeTitle
	elSeasonNumber
	elEpisodeNumber
	elPremierDate

	elNews
	elPublication
	elName
	elLanguage
	elKeywords
	elGenres
	elAccess
	elStockTickers
	elGeoLocations

	elLink
	elMobile
	elPageMap
	elDataObject
	elAttribute

	elRSS
	elRDF
	elFeed
	elChannel
	elItem
	elFeedLink
	elPubDate
	elUpdated
	elGUID
	elDCDate
)

func coreElement(local []byte) element {
	switch string(local) {
	case "url":
		return elURL
	case "loc":
		return elLoc
	case "lastmod":
		return elLastmod
	case "changefreq":
		return elChangefreq
	case "priority":
		return elPriority
	case "urlset":
		return elURLSet
	case "sitemapindex":
		return elSitemapIndex
	case "sitemap":
		return elSitemap
	}
	return elUnknown
}

func imageElement(local []byte) element {
	switch string(local) {
	case "image":
		return elImage
	case "loc":
		return elImageLoc
	case "title":
		return elTitle
	case "caption":
		return elCaption
	case "geo_location", "geolocation":
		return elGeoLocation
	case "license", "licence":
		return elLicense
	}
	return elUnknown
}

func videoElement(local []byte) element {
	switch string(local) {
	case "video":
		return elVideo
	case "thumbnail_loc":
		return elThumbnailLoc
	case "title":
		return elTitle
	case "description":
		return elDescription
	case "content_loc":
		return elContentLoc
	case "player_loc":
		return elPlayerLoc
	case "duration":
		return elDuration
	case "expiration_date":
		return elExpirationDate
	case "rating":
		return elRating
	case "view_count":
		return elViewCount
	case "publication_date":
		return elPublicationDate
	case "family_friendly":
		return elFamilyFriendly
	case "requires_subscription":
		return elRequiresSubscription
	case "live":
		return elLive
	case "restriction":
		return elRestriction
	case "platform":
		return elPlatform
	case "uploader":
		return elUploader
	case "gallery_loc":
		return elGalleryLoc
	case "category":
		return elCategory
	case "tag":
		return elTag
	case "price":
		return elPrice
	case "content_segment_loc":
		return elSegmentLoc
	case "id":
		return elVideoID
	}
	return showElement(local)
}

func showElement(local []byte) element {
	switch string(local) {
	case "tvshow":
		return elTVShow
	case "show_title":
		return elShowTitle
	case "video_type":
		return elVideoType
	case "episode_title":
		return elEpisodeTitle
	case "season_number":
		return elSeasonNumber
	case "episode_number":
		return elEpisodeNumber
	case "premier_date", "premiere_date":
		return elPremierDate
	}
	return elUnknown
}

func newsElement(local []byte) element {
	switch string(local) {
	case "news":
		return elNews
	case "publication":
		return elPublication
	case "name":
		return elName
	case "language":
		return elLanguage
	case "publication_date":
		return elPublicationDate
	case "title":
		return elTitle
	case "keywords":
		return elKeywords
	case "genres":
		return elGenres
	case "access":
		return elAccess
	case "stock_tickers":
		return elStockTickers
	case "geo_locations":
		return elGeoLocations
	}
	return elUnknown
}

func feedElement(local []byte) element {
	switch string(local) {
	case "rss":
		return elRSS
	case "RDF", "rdf":
		return elRDF
	case "feed":
		return elFeed
	case "channel":
		return elChannel
	case "item", "entry":
		return elItem
	case "link":
		return elFeedLink
	case "pubDate", "pubdate", "published", "issued":
		return elPubDate
	case "updated", "modified":
		return elUpdated
	case "guid":
		return elGUID
	}
	return elUnknown
}

// elementOf finds an element of a family other than the core; in feeds, elements without a namespace are the feed's.
func elementOf(fam family, local []byte) element {
	switch fam {
	case famImage:
		return imageElement(local)
	case famVideo:
		return videoElement(local)
	case famNews:
		return newsElement(local)
	case famXHTML:
		if string(local) == "link" {
			return elLink
		}
	case famMobile:
		if string(local) == "mobile" {
			return elMobile
		}
	case famPageMap:
		return pageMapElement(local)
	case famDC:
		if string(local) == "date" || string(local) == "modified" {
			return elDCDate
		}
	case famAtom, famRSS1, famRDF:
		return feedElement(local)
	case famCore:
		return coreElement(local)
	}
	return elUnknown
}

func pageMapElement(local []byte) element {
	switch string(local) {
	case "PageMap":
		return elPageMap
	case "DataObject":
		return elDataObject
	case "Attribute":
		return elAttribute
	}
	return elUnknown
}
