package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/sitemapd/sitemapd/models"
)

// Sorted inventories need no index: one that is kept row by row costs every run more than its sorted insert (measured, see
// docs/decisions.md). Whoever first asks for a list in an order has it sorted once, aside; what is kept is which page
// stands where. At a finished run that never changes, so the answer serves everybody until rows change.
const (
	placeSize   = 20         // document, big endian, and key
	inMemory    = 1 << 16    // places; longer lists lie in a file without a name
	ordersKept  = 64         // lists
	placesKept  = 10_000_000 // of all of them together: 200 MB
	orderingMax = 5 * time.Minute
)

// orderPlace is a page in a sorted list: the document that declares it, -1 for a removed page.
type orderPlace struct {
	document int32
	key      models.Key
}

// order is one list, ascending, what has no value before everything else.
type order struct {
	done    chan struct{} // closed when the rest is there
	err     error
	places  io.ReaderAt
	length  int64
	unknown int64 // places at the front whose page has no value
}

// index says where in the list the page at a position is, counted in the direction of the answer; what has no value comes last.
func (o *order) index(position int64, descending bool) int64 {
	if descending {
		return o.length - 1 - position
	}
	return (position + o.unknown) % o.length
}

func (o *order) place(index int64) (orderPlace, error) {
	var b [placeSize]byte
	if _, err := o.places.ReadAt(b[:], index*placeSize); err != nil {
		return orderPlace{}, fmt.Errorf("read order: %w", err)
	}
	return orderPlace{document: int32(binary.BigEndian.Uint32(b[:4])), key: models.Key(b[4:])}, nil
}

// find looks for a page through the whole list and gives its index, -1 when it is not there.
func (o *order) find(wanted orderPlace) (int64, error) {
	block := make([]byte, 3000*placeSize)
	text := wanted.bytes()
	for at := int64(0); at < o.length*placeSize; at += int64(len(block)) {
		n, err := o.places.ReadAt(block, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("read order: %w", err)
		}
		for i := 0; i+placeSize <= n; i += placeSize {
			if string(block[i:i+placeSize]) == string(text) {
				return (at + int64(i)) / placeSize, nil
			}
		}
	}
	return -1, nil
}

func (p orderPlace) bytes() []byte {
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, placeSize), uint32(p.document)), p.key[:]...)
}

// orders keeps the lists that were asked for last. One is sorted at a time.
type orders struct {
	mu      sync.Mutex
	all     map[string]*order
	recent  []string // names of all, the one used last at the end
	sorting sync.Mutex
	working sync.WaitGroup
	stop    context.CancelFunc
	ctx     context.Context
}

// get gives the list of a name. The first caller has it made by sort, which goes on when the caller leaves.
func (x *orders) get(name string, sort func(context.Context, *placeWriter) error) *order {
	x.mu.Lock()
	defer x.mu.Unlock()
	if i := slices.Index(x.recent, name); i >= 0 {
		x.recent = append(slices.Delete(x.recent, i, i+1), name)
		return x.all[name]
	}
	if x.ctx == nil {
		x.all = map[string]*order{}
		x.ctx, x.stop = context.WithCancel(context.Background())
	}
	o := &order{done: make(chan struct{})}
	x.all[name] = o
	x.recent = append(x.recent, name)
	x.working.Go(func() { x.fill(name, o, sort) })
	return o
}

func (x *orders) fill(name string, o *order, sort func(context.Context, *placeWriter) error) {
	defer close(o.done)
	x.sorting.Lock()
	defer x.sorting.Unlock()
	ctx, cancel := context.WithTimeout(x.ctx, orderingMax)
	defer cancel()
	w := &placeWriter{}
	if o.err = ctx.Err(); o.err == nil {
		o.err = sort(ctx, w)
	}
	if o.err == nil {
		o.places, o.err = w.reader()
	}
	o.length, o.unknown = w.length, w.unknown
	x.mu.Lock()
	defer x.mu.Unlock()
	if o.err != nil { // the next caller tries again
		x.drop(name)
		return
	}
	x.forget(name)
}

// forget drops the lists that were not used for longest while all are too long, but never the one that was just made.
func (x *orders) forget(made string) {
	var length int64
	for _, o := range x.all {
		select {
		case <-o.done:
			length += o.length
		default:
		}
	}
	length += x.all[made].length
	for len(x.recent) > 1 && (len(x.recent) > ordersKept || length > placesKept) {
		name := x.recent[0]
		if name == made {
			name = x.recent[1]
		}
		select {
		case <-x.all[name].done:
			length -= x.all[name].length
		default:
			return // those that wait to be sorted come to this point themselves
		}
		x.drop(name)
	}
}

func (x *orders) drop(name string) {
	delete(x.all, name)
	if i := slices.Index(x.recent, name); i >= 0 {
		x.recent = slices.Delete(x.recent, i, i+1)
	}
}

func (x *orders) close() {
	x.mu.Lock()
	if x.ctx == nil {
		x.ctx, x.stop = context.WithCancel(context.Background())
		x.all = map[string]*order{}
	}
	x.stop()
	x.mu.Unlock()
	x.working.Wait()
}

// placeWriter takes the places of a list, in memory while they are few. The file of a longer one has no name any more and is
// gone with its last reader; where no file can be made, memory has to do.
type placeWriter struct {
	length, unknown int64
	buffer          []byte
	file            *os.File
	filed           bool // a file was made, or could not be
}

func (w *placeWriter) add(p orderPlace, unknown bool) error {
	w.length++
	if unknown {
		w.unknown++
	}
	w.buffer = append(w.buffer, p.bytes()...)
	if len(w.buffer) < inMemory*placeSize {
		return nil
	}
	if !w.filed {
		w.filed = true
		if file, err := os.CreateTemp("", "sitemapd-order-*"); err == nil {
			_ = os.Remove(file.Name()) // stays readable through its handle
			w.file = file
		}
	}
	return w.flush()
}

func (w *placeWriter) flush() error {
	if w.file == nil {
		return nil
	}
	if _, err := w.file.Write(w.buffer); err != nil {
		return fmt.Errorf("write order: %w", err)
	}
	w.buffer = w.buffer[:0]
	return nil
}

func (w *placeWriter) reader() (io.ReaderAt, error) {
	if w.file == nil {
		return placesInMemory(w.buffer), nil
	}
	err := w.flush()
	w.buffer = nil
	return w.file, err
}

type placesInMemory []byte

func (b placesInMemory) ReadAt(p []byte, at int64) (int, error) {
	if at >= int64(len(b)) {
		return 0, io.EOF
	}
	n := copy(p, b[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// readPlaces writes the rows of a statement that gives document, key and whether there is no value.
func (s *Store) readPlaces(ctx context.Context, text string, args []any, w *placeWriter) error {
	rows, err := s.query(ctx, text, args...)
	var key sql.RawBytes
	var p orderPlace
	var unknown bool
	return each(rows, err, func(rows *sql.Rows) error {
		if err := rows.Scan(&p.document, &key, &unknown); err != nil {
			return err
		}
		copy(p.key[:], key)
		return w.add(p, unknown)
	})
}
