package export

import (
	"archive/zip"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

// Compression is most of what an export costs; this library, which Parquet needs as well, does it in a third of the
// standard library's time.

func newGzip(w io.Writer) *gzip.Writer { return gzip.NewWriter(w) }

func newZip(w io.Writer) *zip.Writer {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.DefaultCompression)
	})
	return z
}
