package hook

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"

	"github.com/sitemapd/sitemapd/models"
)

// Bounds of an XML body. encoding/xml knows no entities but the five, so nothing can grow.
const (
	maxXMLDepth = 32
	maxXMLText  = 8192
)

// leaves reads an XML body into the name of its root and the text of its leaf elements, the first of each name.
// What is not well-formed ends the reading; what was read counts.
func leaves(raw []byte) (root string, texts map[string]string) {
	texts = map[string]string{}
	decoder := xml.NewDecoder(bytes.NewReader(raw))
	decoder.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	depth, name, text := 0, "", strings.Builder{}
	for {
		token, err := decoder.RawToken()
		if err != nil {
			return root, texts
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth > maxXMLDepth {
				return root, texts
			}
			if root == "" {
				root = t.Name.Local
			}
			name = t.Name.Local
			text.Reset()
		case xml.CharData:
			if text.Len()+len(t) <= maxXMLText {
				text.Write(t)
			}
		case xml.EndElement:
			depth--
			if name == t.Name.Local {
				if _, seen := texts[name]; !seen {
					texts[name] = strings.TrimSpace(text.String())
				}
			}
			name = ""
		}
	}
}

// methodCall is an XML-RPC request of strings (xmlrpc.com/spec). A value without a type is a string.
type methodCall struct {
	XMLName xml.Name `xml:"methodCall"`
	Name    string   `xml:"methodName"`
	Params  []struct {
		Value struct {
			Typed string `xml:"string"`
			Plain string `xml:",chardata"`
		} `xml:"value"`
	} `xml:"params>param"`
}

// readXMLRPC reads the pings of WordPress' Update Services: weblogUpdates.extendedPing(name, home, check URL, feed)
// and weblogUpdates.ping(name, home). No page is named.
func (m *Message) readXMLRPC(raw []byte) {
	m.Kind, m.Reply = models.CausePing, ReplyXMLRPC
	var call methodCall
	decoder := xml.NewDecoder(bytes.NewReader(raw))
	decoder.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	if decoder.Decode(&call) != nil {
		m.Ignore = IgnoreUnrelated
		return
	}
	name := strings.TrimSpace(call.Name)
	if name != "weblogUpdates.ping" && name != "weblogUpdates.extendedPing" {
		m.Ignore = IgnoreUnrelated
		return
	}
	if len(call.Params) > 1 {
		value := call.Params[1].Value
		if m.Home = strings.TrimSpace(value.Typed); m.Home == "" {
			m.Home = strings.TrimSpace(value.Plain)
		}
	}
	m.Hints = []models.Hint{{Event: name}}
}

// XMLRPCAnswer is the body that a ping is answered with; WordPress repeats the ping unless it can parse it.
func XMLRPCAnswer(failed bool, message string) []byte {
	flag := "0"
	if failed {
		flag = "1"
	}
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0"?>` + "\n" + `<methodResponse><params><param><value><struct>` +
		`<member><name>flerror</name><value><boolean>` + flag + `</boolean></value></member>` +
		`<member><name>message</name><value><string>`)
	_ = xml.EscapeText(&b, []byte(message))
	b.WriteString(`</string></value></member></struct></value></param></params></methodResponse>` + "\n")
	return b.Bytes()
}
