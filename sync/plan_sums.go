package syncer

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/zeebo/xxh3"

	"github.com/sitemapd/sitemapd/models"
)

// sums tell which rows of a document a diff need not read. Pages fall into buckets by the leading bits of their keys, which
// is how their rows lie in the table; each bucket has the sum, modulo 2^64, of a hash over key, fingerprint and whether the
// page is foreign, whatever the order. Where the sum of what a document declares now equals that of the stored rows, the
// rows say the same. The hash has a secret seed: a site cannot make up pages that add up to what they replace.
type sums struct {
	seed     uint64
	bits     int
	buckets  []bucketSum
	doubtful []bool // rows changed since the sums were made; nil when none did
}

type bucketSum struct {
	sum      uint64
	declared uint32 // rows that are declarations: no duplicates, no foreign ones
}

const (
	sumsForm     = 1  // first byte of the stored form
	bucketRows   = 8  // rows of a bucket, about
	mostSumsBits = 12 // 4,096 buckets, 48 KiB
)

// sumsBits gives the number of leading bits for a document of so many entries; 0 when it has fewer than least and is read
// whole.
func sumsBits(entries, least int) int {
	if entries < least {
		return 0
	}
	return min(bits.Len(uint(entries/bucketRows)), mostSumsBits)
}

func newSums(seed uint64, n int) *sums {
	return &sums{seed: seed, bits: n, buckets: make([]bucketSum, 1<<n)}
}

// readSums decodes stored sums. nil means that all rows must be read: there are none, their form is not known, or the
// document has outgrown them.
func readSums(stored models.DocumentSums, entries, least int) *sums {
	b, want := stored.Sums, sumsBits(entries, least)
	if want == 0 || len(b) < 10 || b[0] != sumsForm || int(b[1]) < want-1 || int(b[1]) > want+1 || int(b[1]) > mostSumsBits || len(b) != 10+12<<b[1] {
		return nil
	}
	s := newSums(binary.BigEndian.Uint64(b[2:]), int(b[1]))
	for i := range s.buckets {
		at := b[10+12*i:]
		s.buckets[i] = bucketSum{binary.BigEndian.Uint64(at), binary.BigEndian.Uint32(at[8:])}
	}
	for d := stored.Doubts; len(d) >= 2; d = d[2:] {
		s.doubt(int(binary.BigEndian.Uint16(d)) >> (16 - s.bits))
	}
	return s
}

func (s *sums) doubt(bucket int) {
	if s.doubtful == nil {
		s.doubtful = make([]bool, len(s.buckets))
	}
	s.doubtful[bucket] = true
}

func (s *sums) encode() []byte {
	b := make([]byte, 0, 10+12*len(s.buckets))
	b = binary.BigEndian.AppendUint64(append(b, sumsForm, byte(s.bits)), s.seed)
	for _, x := range s.buckets {
		b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(b, x.sum), x.declared)
	}
	return b
}

func (s *sums) bucket(key *models.Key) int {
	return int(binary.BigEndian.Uint16(key[:]) >> (16 - s.bits))
}

func (s *sums) hash(key *models.Key, fingerprint *models.Fingerprint, foreign bool) uint64 {
	var b [33]byte
	copy(b[:], key[:])
	copy(b[16:], fingerprint[:])
	if foreign {
		b[32] = 1
	}
	return xxh3.HashSeed(b[:], s.seed)
}

// add counts one row in.
func (s *sums) add(key *models.Key, fingerprint *models.Fingerprint, role models.Role) {
	b := &s.buckets[s.bucket(key)]
	b.sum += s.hash(key, fingerprint, role == models.RoleForeign)
	if role == models.RoleDeclaration {
		b.declared++
	}
}

// selection is the part of a document's rows that a diff reads.
type selection struct {
	sums *sums  // of the stored rows
	read []bool // by bucket
}

// selectRows compares stored sums with what a document declares now. nil means that all rows must be read. Buckets with a
// page whose removal is undecided are read in any case: should it be listed again, the rows do not show that.
func selectRows(s *sums, c *collection, missing map[models.Key]bool) *selection {
	if s == nil {
		return nil
	}
	now := newSums(s.seed, s.bits)
	for i := range c.order {
		e := c.at(i)
		b := &now.buckets[now.bucket(&e.key)]
		b.sum += now.hash(&e.key, &e.fingerprint, e.foreign)
	}
	read, count := make([]bool, len(s.buckets)), 0
	for i := range read {
		read[i] = now.buckets[i].sum != s.buckets[i].sum || s.doubtful != nil && s.doubtful[i]
	}
	for key := range missing {
		read[s.bucket(&key)] = true
	}
	for _, r := range read {
		if r {
			count++
		}
	}
	if count == 0 || count > len(read)/2 { // nothing differs although the meaning does: do not believe it
		return nil
	}
	return &selection{s, read}
}

// covers tells whether the rows of a page were read.
func (x *selection) covers(key *models.Key) bool { return x == nil || x.read[x.sums.bucket(key)] }

// ranges gives what is to be read, neighbours joined.
func (x *selection) ranges() []models.KeyRange {
	var out []models.KeyRange
	for i := 0; i < len(x.read); i++ {
		if !x.read[i] {
			continue
		}
		first := i
		for i+1 < len(x.read) && x.read[i+1] {
			i++
		}
		r := models.KeyRange{}
		for k := range r.To {
			r.To[k] = 0xff
		}
		binary.BigEndian.PutUint16(r.From[:], uint16(first<<(16-x.sums.bits)))
		binary.BigEndian.PutUint16(r.To[:], uint16((i+1)<<(16-x.sums.bits)-1))
		out = append(out, r)
	}
	return out
}

// unread counts the declarations among the rows that were not read.
func (x *selection) unread() int64 {
	var n int64
	for i, b := range x.sums.buckets {
		if !x.read[i] {
			n += int64(b.declared)
		}
	}
	return n
}

// after gives the sums of the rows that are open once a difference is staged: the stored ones where nothing was read, else
// what the document declares and what stays open although it left. nil when the document is too small for sums.
func (d *documentDiff) after(stored []models.Listing, c *collection, x *selection, seed uint64, least int) *sums {
	var out *sums
	if x != nil {
		out = newSums(x.sums.seed, x.sums.bits)
		for i, b := range x.sums.buckets {
			if !x.read[i] {
				out.buckets[i] = b
			}
		}
	} else if n := sumsBits(len(c.order), least); n > 0 {
		out = newSums(seed, n)
	} else {
		return nil
	}
	i := 0
	for j := range c.order {
		e := c.at(j)
		if !x.covers(&e.key) {
			continue
		}
		for ; i < len(stored) && bytes.Compare(stored[i].Key[:], e.key[:]) < 0; i++ {
			d.stays(out, &stored[i])
		}
		role := models.RoleDeclaration
		if i < len(stored) && stored[i].Key == e.key {
			role = stored[i].Role
			i++
		}
		out.add(&e.key, &e.fingerprint, roleNow(role, e.foreign))
	}
	for ; i < len(stored); i++ {
		d.stays(out, &stored[i])
	}
	return out
}

// stays counts in a stored row that the document does not list, unless it ends now.
func (d *documentDiff) stays(out *sums, row *models.Listing) {
	if !d.closes(row.Key) {
		out.add(&row.Key, &row.Fingerprint, row.Role)
	}
}
