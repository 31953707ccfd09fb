package sitemap

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"slices"
)

// prints keeps the fingerprints of one document until its end, when they become the semantic hash and tell which pages
// were listed more than once.
type prints struct {
	list    [][16]byte
	scratch [][16]byte
	count   []int32

	// filter is a Bloom filter over the first half of the fingerprints, which stands for the identity. What it takes
	// for a page met before, rightly or not, is a suspect, and judged at the end.
	filter   [filterSize]uint64
	suspects []suspect
	texts    []byte // memory of their addresses
}

const (
	filterSize  = 8192 // words: 64 KiB, which the processor's caches hold
	maxSuspects = 4096 // that keep their address; a document with more duplicates than that needs no more examples
)

// suspect is an entry whose page may have been listed before.
type suspect struct {
	identity uint64
	at       place
	from, to int // of its address in prints.texts
}

func (p *prints) reset() {
	if len(p.list) > 0 {
		clear(p.filter[:])
	}
	p.list, p.suspects, p.texts = p.list[:0], p.suspects[:0], p.texts[:0]
}

// add adds an entry's fingerprint and tells whether its page may have been listed before.
func (p *prints) add(f *[16]byte) bool {
	p.list = append(p.list, *f)
	h := binary.BigEndian.Uint64(f[:8])
	word := &p.filter[h%filterSize]
	bits := uint64(1)<<(h>>13&63) | uint64(1)<<(h>>19&63) | uint64(1)<<(h>>25&63)
	if *word&bits == bits {
		return true
	}
	*word |= bits
	return false
}

// suspect keeps an entry to be judged at the end.
func (p *prints) suspect(f *[16]byte, at place, loc []byte) {
	if len(p.suspects) < maxSuspects {
		from := len(p.texts)
		p.texts = append(p.texts, loc...)
		p.suspects = append(p.suspects, suspect{binary.BigEndian.Uint64(f[:8]), at, from, len(p.texts)})
	}
}

// duplicates counts, of the sorted fingerprints, those whose page was listed before.
func (p *prints) duplicates() int {
	n := 0
	for i := 1; i < len(p.list); i++ {
		if string(p.list[i][:8]) == string(p.list[i-1][:8]) {
			n++
		}
	}
	return n
}

// confirmed calls report for every suspect whose page was indeed listed before, in document order.
func (p *prints) confirmed(report func(at place, loc []byte)) {
	times := map[uint64]int{} // suspected
	for i := range p.suspects {
		times[p.suspects[i].identity]++
	}
	for i := range p.suspects {
		s := &p.suspects[i]
		n := p.listed(s.identity)
		if n < 2 {
			continue
		}
		if times[s.identity] == n { // the first of several was itself a suspect, by mistake of the filter
			times[s.identity] = 0
			continue
		}
		report(s.at, p.texts[s.from:s.to])
	}
}

// listed counts how often a page was listed, up to a bound.
func (p *prints) listed(identity uint64) int {
	at, _ := slices.BinarySearchFunc(p.list, identity, func(f [16]byte, k uint64) int {
		return cmp.Compare(binary.BigEndian.Uint64(f[:8]), k)
	})
	n := 0
	for at+n < len(p.list) && n <= maxSuspects && binary.BigEndian.Uint64(p.list[at+n][:8]) == identity {
		n++
	}
	return n
}

// semanticHash is SHA-256 over the type and the sorted fingerprints, each once.
func (p *prints) semanticHash(t Type) (sum [32]byte) {
	h := sha256.New()
	h.Write([]byte("sitemapd semantic 1\n" + t.String() + "\n"))
	var chunk [256 * 16]byte
	n := 0
	for i := range p.list {
		if i > 0 && p.list[i] == p.list[i-1] {
			continue
		}
		if n == len(chunk) {
			h.Write(chunk[:])
			n = 0
		}
		n += copy(chunk[n:], p.list[i][:])
	}
	h.Write(chunk[:n])
	h.Sum(sum[:0])
	return sum
}

// sort orders the fingerprints: into as many buckets as there are fingerprints by their leading bits, then each bucket.
// Buckets hold one or two, as hashes are spread evenly; those that were made to be full cost n log n.
func (p *prints) sort() {
	n := len(p.list)
	if n < 64 {
		sortPrints(p.list)
		return
	}
	width := min(bits.Len(uint(n)), 16)
	shift := 64 - width
	if len(p.count) < 1<<width+1 {
		p.count = make([]int32, 1<<width+1)
	}
	count := p.count[:1<<width+1]
	clear(count)
	for i := range p.list {
		count[binary.BigEndian.Uint64(p.list[i][:8])>>shift+1]++
	}
	for i := 1; i < len(count); i++ {
		count[i] += count[i-1]
	}
	if cap(p.scratch) < n {
		p.scratch = make([][16]byte, n, cap(p.list))
	}
	out := p.scratch[:n]
	for i := range p.list {
		b := binary.BigEndian.Uint64(p.list[i][:8]) >> shift
		out[count[b]] = p.list[i]
		count[b]++
	}
	start := int32(0)
	for b := range len(count) - 1 {
		end := count[b]
		switch end - start {
		case 0, 1:
		case 2:
			if less(&out[start+1], &out[start]) {
				out[start], out[start+1] = out[start+1], out[start]
			}
		default:
			sortPrints(out[start:end])
		}
		start = end
	}
	p.list, p.scratch = out, p.list
}

func sortPrints(list [][16]byte) {
	if len(list) > 12 {
		slices.SortFunc(list, func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) })
		return
	}
	for i := 1; i < len(list); i++ {
		for j := i; j > 0 && less(&list[j], &list[j-1]); j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
}

func less(a, b *[16]byte) bool {
	if x, y := binary.BigEndian.Uint64(a[:8]), binary.BigEndian.Uint64(b[:8]); x != y {
		return x < y
	}
	return binary.BigEndian.Uint64(a[8:]) < binary.BigEndian.Uint64(b[8:])
}
