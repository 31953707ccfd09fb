// Package models holds the words of sitemapd as Go types: site, document, page,
// declaration, run, trigger, finding, removal. They are what crosses between the
// engine (sync), the database (models/store), the web (handlers) and the command
// line (cmd/sitemapd), and their JSON is the program's public contract.
//
// It promises that a field that a sitemap did not declare stays absent (nil or
// empty, omitted from JSON) and is never replaced by a default.
//
// It imports nothing of ours and knows neither SQL nor HTTP.
package models
