package sitemap

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/zeebo/xxh3"
)

// wire is the innermost reader: it counts and hashes the bytes as received, and turns every failure of the source into
// an end of the stream that remembers why.
type wire struct {
	src  io.Reader
	n    int64
	max  int64
	hash *xxh3.Hasher

	skipHash bool
	err      error // what ended the stream, nil for a clean end
	over     bool  // the limit of bytes was reached
}

func (w *wire) reset(src io.Reader, max int64, skipHash bool) {
	if w.hash == nil {
		w.hash = xxh3.New()
	}
	w.hash.Reset()
	*w = wire{src: src, max: max, hash: w.hash, skipHash: skipHash}
}

func (w *wire) Read(p []byte) (int, error) {
	if w.err != nil || w.over {
		return 0, io.EOF
	}
	if left := w.max - w.n; int64(len(p)) > left {
		if left == 0 {
			// One byte more tells a document of exactly the limit from a longer one.
			var one [1]byte
			if n, _ := io.ReadFull(w.src, one[:]); n > 0 {
				w.over = true
			}
			return 0, io.EOF
		}
		p = p[:left]
	}
	n, err := w.src.Read(p)
	for empty := 0; n == 0 && err == nil && len(p) > 0; n, err = w.src.Read(p) {
		if empty++; empty > 100 {
			err = io.ErrNoProgress
			break
		}
	}
	if n > 0 {
		w.n += int64(n)
		if !w.skipHash {
			_, _ = w.hash.Write(p[:n])
		}
	}
	if err != nil && err != io.EOF {
		w.err = err
		err = io.EOF
	}
	return n, err
}

// layer removes one layer of gzip. Members follow one another without limit; what follows the last one and is no
// member is counted and dropped.
type layer struct {
	src      *bufio.Reader
	gz       gzip.Reader
	started  bool
	done     bool
	members  int
	trailing int64
	err      error // what ended it before its end: io.ErrUnexpectedEOF, or damage
}

// reset begins a document with an inflater of its own: the library keeps its code tables from one stream to the next,
// and a damaged one that declares an empty tree is then decoded with those of the document before.
func (l *layer) reset(src *bufio.Reader) {
	l.gz = gzip.Reader{}
	l.src, l.started, l.done, l.members, l.trailing, l.err = src, false, false, 0, 0, nil
}

func (l *layer) Read(p []byte) (int, error) {
	for {
		if l.done {
			return 0, io.EOF
		}
		if !l.started {
			if err := l.gz.Reset(l.src); err != nil {
				l.fail(err)
				continue
			}
			l.gz.Multistream(false)
			l.started = true
			l.members++
		}
		n, err := l.gz.Read(p)
		if err == io.EOF {
			l.started = false
			if !isGzip(l.src) {
				l.drain()
			}
		} else if err != nil {
			l.fail(err)
		}
		if n > 0 {
			return n, nil
		}
	}
}

func (l *layer) fail(err error) {
	l.done = true
	l.err = err
	if errors.Is(err, io.EOF) {
		l.err = io.ErrUnexpectedEOF
	}
}

// drain reads what follows the last member: nothing, padding of zeros, or what a page cache added.
func (l *layer) drain() {
	l.done = true
	for {
		b, err := l.src.Peek(1)
		if len(b) == 0 || err != nil && len(b) == 0 {
			return
		}
		b, _ = l.src.Peek(l.src.Buffered())
		for _, c := range b {
			if c != 0 {
				l.trailing++
			}
		}
		_, _ = l.src.Discard(len(b))
	}
}

func isGzip(b *bufio.Reader) bool {
	magic, _ := b.Peek(2)
	return len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b
}

// inflated counts what comes out of the last layer and enforces the limits that only show there.
type inflated struct {
	src   io.Reader
	wire  *wire
	n     int64
	max   int64
	ratio int64 // 0: not compressed, so there is none
	over  bool
	bomb  bool
}

func (i *inflated) Read(p []byte) (int, error) {
	if i.over || i.bomb {
		return 0, io.EOF
	}
	n, err := i.src.Read(p)
	i.n += int64(n)
	if i.n > i.max {
		n -= int(i.n - i.max)
		i.n = i.max
		i.over = true
		return n, io.EOF
	}
	if i.ratio > 0 && i.n > 1<<20 && i.n > i.ratio*i.wire.n {
		i.bomb = true
		return 0, io.EOF
	}
	return n, err
}
