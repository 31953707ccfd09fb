package sitemap

// TakeTheLongWay makes a reader use none of its shortcuts, so that tests can compare both ways.
func (r *Reader) TakeTheLongWay() { r.longWay = true }

// LongRead is how many entries of the last document were read the long way.
func (r *Reader) LongRead() int { return r.longRead }
