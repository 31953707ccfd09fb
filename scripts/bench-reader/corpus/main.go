// Command corpus writes the benchmark's documents into the folder given: core.xml, yoast.xml, rich.xml and each
// compressed.
package main

import (
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"

	benchreader "github.com/sitemapd/sitemapd/scripts/bench-reader"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "corpus FOLDER")
		os.Exit(2)
	}
	for name, body := range map[string][]byte{
		"core.xml": benchreader.Core(), "yoast.xml": benchreader.Yoast(), "rich.xml": benchreader.Rich(),
	} {
		if err := write(filepath.Join(os.Args[1], name), body); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func write(name string, body []byte) error {
	if err := os.WriteFile(name, body, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	f, err := os.Create(name + ".gz")
	if err != nil {
		return fmt.Errorf("write %s.gz: %w", name, err)
	}
	w := gzip.NewWriter(f)
	if _, err := w.Write(body); err != nil {
		return fmt.Errorf("compress %s: %w", name, err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("compress %s: %w", name, err)
	}
	return f.Close()
}
