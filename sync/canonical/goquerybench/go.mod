module github.com/sitemapd/sitemapd/sync/canonical/goquerybench

go 1.26.8

require (
	github.com/PuerkitoBio/goquery v1.14.0
	github.com/sitemapd/sitemapd v0.0.0
	golang.org/x/net v0.62.0
)

require (
	github.com/andybalholm/cascadia v1.3.5 // indirect
	golang.org/x/text v0.44.0 // indirect
)

replace github.com/sitemapd/sitemapd => ../../..
