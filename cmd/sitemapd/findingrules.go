package main

import (
	"github.com/sitemapd/sitemapd/models"
	"github.com/sitemapd/sitemapd/sync/canonical"
	"github.com/sitemapd/sitemapd/sync/sitemap"
)

// rules are both catalogues of findings, in the order of their documents.
func rules() []models.FindingRule {
	var out []models.FindingRule
	for _, r := range append(sitemap.Catalogue(), sitemap.SiteCatalogue()...) {
		out = append(out, documentRule(r))
	}
	for _, k := range canonical.FindingKinds() {
		out = append(out, pageRule(k))
	}
	return out
}

// ruleOf finds the rule of a code; where it means something about the other things alone, that.
func ruleOf(about, code string) (models.FindingRule, bool) {
	kind, page := canonical.FindingKindOf(code)
	rule, document := sitemap.RuleOf(code)
	if !document {
		rule, document = sitemap.SiteRuleOf(code)
	}
	switch {
	case page && (about == models.AboutPages || !document):
		return pageRule(kind), true
	case document:
		return documentRule(rule), true
	}
	return models.FindingRule{}, false
}

func documentRule(r sitemap.Rule) models.FindingRule {
	return models.FindingRule{Code: r.Code, About: models.AboutDocuments, Severity: string(r.Severity), Meaning: r.Meaning, Cost: r.Cost, Advice: r.Advice, Source: r.Source}
}

func pageRule(k canonical.FindingKind) models.FindingRule {
	return models.FindingRule{Code: k.Code, About: models.AboutPages, Severity: string(k.Severity), Meaning: k.Meaning, Advice: k.Do,
		Source: "docs/canonical-findings.md, " + k.Report, KnownAs: k.KnownAs}
}
