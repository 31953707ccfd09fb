package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
)

// fastcgi asks PHP-FPM as a web server does (FastCGI 1.0, one request a connection), so that a response that PHP ends
// early is seen to end early.
type fastcgi struct {
	socket string
	root   string
	site   site
}

func (s site) fastcgi(t *testing.T) fastcgi {
	t.Helper()
	f := fastcgi{socket: os.Getenv("SITEMAPD_TEST_WP_FPM"), root: os.Getenv("SITEMAPD_TEST_WP_ROOT"), site: s}
	if f.socket == "" {
		t.Skip("SITEMAPD_TEST_WP_FPM is not set: no PHP-FPM")
	}
	return f
}

const (
	fcgiBegin, fcgiEnd, fcgiParams, fcgiStdin, fcgiStdout = 1, 3, 4, 5, 6
)

func record(kind byte, content []byte) []byte {
	b := []byte{1, kind, 0, 1}
	b = binary.BigEndian.AppendUint16(b, uint16(len(content)))
	return append(append(b, 0, 0), content...)
}

func pair(name, value string) []byte {
	var b []byte
	for _, text := range []string{name, value} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(text))|1<<31)
	}
	return append(append(b, name...), value...)
}

// post sends one POST and gives the response and how long it took until PHP said that the response is over.
func (f fastcgi) post(t *testing.T, path, user, password, body string) (string, time.Duration) {
	t.Helper()
	home, err := url.Parse(f.site.url)
	if err != nil {
		t.Fatal(err)
	}
	var params []byte
	for name, value := range map[string]string{
		"SCRIPT_FILENAME": f.root + "/index.php", "SCRIPT_NAME": "/index.php", "PHP_SELF": "/index.php", "DOCUMENT_ROOT": f.root,
		"REQUEST_METHOD": "POST", "REQUEST_URI": "/" + path, "QUERY_STRING": "", "SERVER_PROTOCOL": "HTTP/1.1", "GATEWAY_INTERFACE": "CGI/1.1",
		"HTTP_HOST": home.Host, "SERVER_NAME": home.Hostname(), "SERVER_PORT": home.Port(), "REMOTE_ADDR": "127.0.0.1",
		"CONTENT_TYPE": "application/json", "CONTENT_LENGTH": fmt.Sprint(len(body)), "PHP_AUTH_USER": user, "PHP_AUTH_PW": password,
	} {
		params = append(params, pair(name, value)...)
	}
	var request bytes.Buffer
	request.Write(record(fcgiBegin, []byte{0, 1, 0, 0, 0, 0, 0, 0}))
	request.Write(record(fcgiParams, params))
	request.Write(record(fcgiParams, nil))
	request.Write(record(fcgiStdin, []byte(body)))
	request.Write(record(fcgiStdin, nil))

	start := time.Now()
	connection, err := net.Dial("unix", f.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	_ = connection.SetDeadline(start.Add(time.Minute))
	if _, err := connection.Write(request.Bytes()); err != nil {
		t.Fatal(err)
	}
	var response strings.Builder
	for in := bufio.NewReader(connection); ; {
		var head [8]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			t.Fatalf("PHP-FPM: %v after %q", err, response.String())
		}
		content := make([]byte, int(binary.BigEndian.Uint16(head[4:6]))+int(head[6]))
		if _, err := io.ReadFull(in, content); err != nil {
			t.Fatal(err)
		}
		switch head[1] {
		case fcgiStdout:
			response.Write(content[:len(content)-int(head[6])])
		case fcgiEnd:
			return response.String(), time.Since(start)
		}
	}
}
