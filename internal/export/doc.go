// Package export writes pages of an inventory as CSV, NDJSON, XLSX, Parquet and sitemap.xml.
//
// It promises that memory follows one page (Parquet: one row group), not the site: pages come in one by one and leave
// as bytes at once. The same pages in the same order give the same bytes, whenever and wherever. What sites publish is
// hostile until written: a cell never becomes a formula, a text never becomes markup, and a document never leaves the
// limits of its format, so that sitemaps and sheets are split instead.
//
// A sitemap keeps everything that was declared: reading it gives the fingerprints of the documents that the pages came
// from. docs/export.md describes every format and column.
//
// Of our packages it imports models and sync/sitemap (for the extension blocks). It asks no database and knows no HTTP:
// cmd/sitemapd hands it pages and a place to write to, and so may handlers through an interface of their own.
package export
