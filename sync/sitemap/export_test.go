package sitemap

// TakeTheLongWay makes a reader use none of its shortcuts, so that tests can compare both ways.
func (r *Reader) TakeTheLongWay() { r.longWay = true }
