package sitemap

import "strings"

// AspectAnswer is that a document could not be had at all.
const AspectAnswer Aspect = "answer"

const (
	srcDNS   = "RFC 1034"
	srcTLS   = "RFC 8446"
	srcRetry = "RFC 9110; RFC 6585"
)

// kept is what every failed answer costs: pages of a document that gave none stay listed, as stale.
const kept = "the document; what it listed stays, as stale"

// answerRules are the findings about documents that gave nothing to read, by the outcome of the request or the status of the
// answer. The last three stand for all statuses of their class.
var answerRules = []Rule{
	{"fetch-timeout", Error, AspectAnswer, "the server did not answer in time", kept, "look at the server's load; a sitemap of many pages that is made on request is slow, a smaller one or a cache helps", srcHTTP},
	{"fetch-too-slow", Error, AspectAnswer, "the answer came so slowly that it was given up", kept, "look at the server's load and at limits of bandwidth", srcOurs},
	{"fetch-dns", Error, AspectAnswer, "the host's name did not resolve", kept, "look at the spelling of the address and at the name servers", srcDNS},
	{"fetch-refused", Error, AspectAnswer, "nobody listens at the address, or there is no way to it", kept, "start the web server; let a firewall pass this client", srcHTTP},
	{"fetch-tls", Error, AspectAnswer, "the certificate or the handshake failed", kept, "renew the certificate and send its whole chain", srcTLS},
	{"fetch-blocked-address", Error, AspectAnswer, "the address is a private one, which is not asked", kept, "allow it with --allow-private when the site is yours", srcOurs},
	{"fetch-too-large", Error, AspectAnswer, "the answer is larger than is read", kept, "split the document: 50,000 entries and 50 MiB are the protocol's limit", srcProtocol},
	{"fetch-redirect-loop", Error, AspectAnswer, "redirects lead back to where they began", kept, "compare the site address with the server's own redirects of scheme, www and slash", srcHTTP},
	{"fetch-too-many-redirects", Error, AspectAnswer, "there are more redirects than are followed", kept, "redirect to the last address at once", srcHTTP},
	{"fetch-bad-redirect", Error, AspectAnswer, "a redirect names no usable address, or leaves https", kept, "send a Location with an absolute https address", srcHTTP},
	{"fetch-protocol", Error, AspectAnswer, "the answer is no valid HTTP, or the connection ended before one", kept, "look into the error log: a program may have died", srcHTTP},
	{"fetch-truncated", Error, AspectAnswer, "the answer ended before its body began", kept, "look for timeouts between server, cache and client", srcHTTP},
	{"fetch-cancelled", Error, AspectAnswer, "the run ended while the document was asked for", kept, "nothing; the next run asks again", srcOurs},
	{"fetch-bad-url", Error, AspectAnswer, "the address cannot be asked for", kept, "correct it in the index or in the site's settings", srcURI},
	{"http-401", Error, AspectAnswer, "the server wants a password", kept, "take sitemaps out of what is protected, or give name and password in the configuration (sites[].username)", srcHTTP},
	{"http-403", Error, AspectAnswer, "the server refuses", kept, "look for a firewall or a security plugin that refuses this client's User-Agent or address", srcHTTP},
	{"http-404", Error, AspectAnswer, "the document is not there", kept, "switch the sitemap on, save the permalinks once, or correct the address", srcHTTP},
	{"http-410", Error, AspectAnswer, "the document is gone for good", kept, "take it out of the index", srcHTTP},
	{"http-429", Error, AspectAnswer, "the server has had too many requests", kept, "let this client pass, or ask less often; Retry-After is kept to", srcRetry},
	{"http-503", Error, AspectAnswer, "the server is busy or under maintenance", kept, "nothing when it passes; else look for a .maintenance file that an update left", srcHTTP},
	{"http-3xx", Error, AspectAnswer, "a redirect that leads nowhere, or an answer that makes no sense here", kept, "answer 200 with the document", srcHTTP},
	{"http-4xx", Error, AspectAnswer, "the server refuses the request", kept, "answer 200 with the document", srcHTTP},
	{"http-5xx", Error, AspectAnswer, "the server failed", kept, "look into the error log of PHP and of the web server", srcHTTP},
}

// answerRuleOf finds the rule of a failed answer; http-418 is one of http-4xx. Other classes are answers without a body.
func answerRuleOf(findingCode string) (Rule, bool) {
	status, ok := strings.CutPrefix(findingCode, "http-")
	class := ""
	if ok && len(status) == 3 && strings.Trim(status, "0123456789") == "" {
		if class = status[:1] + "xx"; class < "4xx" || class > "5xx" {
			class = "3xx"
		}
	}
	general := Rule{}
	for _, rule := range answerRules {
		if rule.Code == findingCode {
			return rule, true
		}
		if class != "" && rule.Code == "http-"+class {
			general = rule
		}
	}
	return general, general.Code != ""
}
