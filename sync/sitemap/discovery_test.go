package sitemap_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sitemapd/sitemapd/sync/sitemap"
)

func TestParseRobots(t *testing.T) {
	t.Parallel()
	const robots = "\ufeffUser-agent: *\r\nDisallow: /x\r\nSitemap: https://Example.org/Maps/S.xml\r\n" +
		"SITEMAP:/rel.xml?a=1&b=2 # comment\nsitemap: example.com/sitemap.xml\n  Sitemap :  https://example.org/s.xml#x  \n" +
		"Sitemap: https://Example.org/Maps/S.xml\nSitemap:\nSitemap: ftp://example.org/x\nSitemap: sitemap_index.xml\n" +
		"# Sitemap: https://example.org/no.xml\nNot-Sitemap: https://example.org/no.xml\nSitemap: <https://cdn.example.net/1.xml>"
	want := []sitemap.SitemapLine{
		{URL: "https://Example.org/Maps/S.xml", Raw: "https://Example.org/Maps/S.xml", Line: 3},
		{URL: "https://example.org/rel.xml?a=1&b=2", Raw: "/rel.xml?a=1&b=2", Line: 4, Finding: "loc-relative"},
		{URL: "https://example.com/sitemap.xml", Raw: "example.com/sitemap.xml", Line: 5, Foreign: true, Finding: "loc-scheme-missing"},
		{URL: "https://example.org/s.xml#x", Raw: "https://example.org/s.xml#x", Line: 6},
		{Raw: "", Line: 8, Finding: "loc-empty"},
		{Raw: "ftp://example.org/x", Line: 9, Finding: "loc-scheme-invalid"},
		{URL: "https://example.org/sitemap_index.xml", Raw: "sitemap_index.xml", Line: 10, Finding: "loc-relative"},
		{URL: "https://cdn.example.net/1.xml", Raw: "https://cdn.example.net/1.xml", Line: 13, Foreign: true},
	}
	if diff := cmp.Diff(want, sitemap.ParseRobots([]byte(robots), "https://example.org/robots.txt")); diff != "" {
		t.Error(diff)
	}
	if got := sitemap.ParseRobots([]byte("<html>Sitemap"), "https://example.org/robots.txt"); got != nil {
		t.Errorf("%+v", got)
	}
}

func TestLinkedSitemaps(t *testing.T) {
	t.Parallel()
	const page = "<!DOCTYPE html>\n<html><head><LINK REL=\"Sitemap\" type=\"application/xml\" href='/s.xml?a=1&amp;b=2'>\n" +
		"<link rel=stylesheet href=x><!-- <link rel=sitemap href=/no.xml> --><link href=n.xml rel=\"nofollow sitemap\">" +
		"<link rel=sitemap href=\"https://other.example/s.xml\"/><link rel=\"sitemap\"><link rel=sitemap href=n.xml></head>" +
		"<body><a rel=\"sitemap\" href=\"/map\">x</a><linker rel=sitemap href=/no>"
	want := []sitemap.SitemapLine{
		{URL: "https://example.org/s.xml?a=1&b=2", Raw: "/s.xml?a=1&b=2", Line: 2},
		{URL: "https://example.org/dir/n.xml", Raw: "n.xml", Line: 3},
		{URL: "https://other.example/s.xml", Raw: "https://other.example/s.xml", Line: 3, Foreign: true},
		{URL: "https://example.org/map", Raw: "/map", Line: 3},
	}
	if diff := cmp.Diff(want, sitemap.LinkedSitemaps([]byte(page), "https://example.org/dir/")); diff != "" {
		t.Error(diff)
	}
}
