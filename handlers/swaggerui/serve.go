package swaggerui

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed files page
var files embed.FS

var media = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".txt": "text/plain; charset=utf-8"}

// Page is the HTML page that shows the API's document.
func Page() []byte {
	page, err := files.ReadFile("page/index.html")
	if err != nil {
		panic(err) // embedded
	}
	return page
}

// Serve answers one request for a file of the viewer, compressed for whoever takes gzip.
func Serve(w http.ResponseWriter, r *http.Request, name string) error {
	name = path.Base("/" + name)
	w.Header().Set("Cache-Control", "public, max-age=86400")
	w.Header().Set("Vary", "Accept-Encoding")
	if kind, ok := media[path.Ext(name)]; ok {
		w.Header().Set("Content-Type", kind)
	}
	if plain, err := files.ReadFile("page/" + name); err == nil && name != "index.html" {
		_, err = w.Write(plain)
		return err
	}
	packed, err := files.ReadFile("files/" + name + ".gz")
	if err != nil {
		return fmt.Errorf("documentation file: %w", fs.ErrNotExist)
	}
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		_, err = w.Write(packed)
		return err
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return fmt.Errorf("documentation file: %w", err)
	}
	_, err = io.Copy(w, reader)
	return err
}
