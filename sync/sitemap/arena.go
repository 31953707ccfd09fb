package sitemap

// arena holds the texts of one entry. What it gave stays in place until reset, so that slices into it never move.
type arena struct {
	cur    []byte
	blocks [][]byte
	next   int
}

const (
	arenaBlock = 16 << 10
	arenaKeep  = 64 // blocks that stay for the next entry
)

func (a *arena) reset() {
	if a.next > arenaKeep {
		a.blocks = a.blocks[:arenaKeep]
	}
	a.next = 0
	a.cur = a.cur[:0]
	if len(a.blocks) > 0 {
		a.cur, a.next = a.blocks[0][:0], 1
	}
}

// keep copies b.
func (a *arena) keep(b []byte) []byte {
	if cap(a.cur)-len(a.cur) < len(b) {
		a.grow(len(b))
	}
	start := len(a.cur)
	a.cur = append(a.cur, b...)
	return a.cur[start:len(a.cur):len(a.cur)]
}

func (a *arena) grow(n int) {
	for a.next < len(a.blocks) {
		block := a.blocks[a.next]
		a.next++
		if cap(block) >= n {
			a.cur = block[:0]
			return
		}
	}
	a.cur = make([]byte, 0, max(arenaBlock, n))
	a.blocks = append(a.blocks, a.cur)
	a.next = len(a.blocks)
}
