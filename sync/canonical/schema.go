package canonical

import "strings"

// describesPage says whether a node of these types is the page itself or the
// article on it. Sites, persons, organisations, images and list items are not:
// their url is another one by right.
func describesPage(types []string) bool {
	for _, t := range types {
		if strings.HasSuffix(t, "WebPage") || strings.HasSuffix(t, "Article") || pageTypes[t] {
			return true
		}
	}
	return false
}

// pageTypes are the sub-types of WebPage and Article whose names do not end in those words (schema.org 29).
var pageTypes = map[string]bool{"AboutPage": true, "CheckoutPage": true, "CollectionPage": true, "ContactPage": true, "FAQPage": true,
	"ItemPage": true, "MediaGallery": true, "ImageGallery": true, "VideoGallery": true, "ProfilePage": true, "QAPage": true,
	"RealEstateListing": true, "SearchResultsPage": true, "BlogPosting": true, "LiveBlogPosting": true, "SocialMediaPosting": true,
	"DiscussionForumPosting": true, "Report": true, "APIReference": true, "OpinionNewsArticle": true}
