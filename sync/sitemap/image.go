package sitemap

// beginImage opens an image:image.
func (r *Reader) beginImage(pos int) {
	b := &r.entry.blocks
	if len(b.images) >= r.opt.MaxImages {
		r.report(codeBlockLimit, pos, nil)
		r.skipElement()
		return
	}
	b.images = append(b.images, Image{})
	r.d.Images = b.images
	b.image, b.identity = &b.images[len(b.images)-1], nil
	r.enter(inImage)
}

// finishImage judges an image:image as a whole.
func (r *Reader) finishImage() {
	b := &r.entry.blocks
	if r.entry.cut || b.image == nil {
		return
	}
	m := b.image
	b.image = nil
	if len(m.Loc) == 0 {
		r.report(codeImageLocMissing, r.win.r, m.Title)
		if len(m.Title) == 0 && len(m.Caption) == 0 && len(m.GeoLocation) == 0 && len(m.License) == 0 {
			b.images = b.images[:len(b.images)-1] // nothing was declared
			r.d.Images = b.images
			return
		}
	}
	r.canon = appendImage(r.canon[:0], m)
	b.sum.add(r.canon, b.identity)
}

// openInImage deals with what stands in an image:image.
func (r *Reader) openInImage(fam family, el element, pos int) {
	m := r.entry.blocks.image
	el = r.inBlock(fam, famImage, el, pos)
	var field *Text
	switch el {
	case elImageLoc:
		if len(m.Loc) > 0 {
			r.report(codeElementRepeated, pos, r.tag.name)
			r.skipElement()
			return
		}
		m.Loc, r.entry.blocks.identity = r.leafURL()
		return
	case elTitle:
		field = &m.Title
	case elCaption:
		field = &m.Caption
	case elGeoLocation:
		field = &m.GeoLocation
	case elLicense:
		field = &m.License
	case elImage: // the one before was not closed
		r.report(codeEntryNotClosed, pos, r.tag.name)
		r.pop()
		r.open(fam, el, pos)
		return
	default:
		r.skipElement()
		return
	}
	r.report(codeImageWithdrawn, pos, r.tag.name)
	r.entry.blocks.richImage = true
	if len(*field) > 0 {
		r.report(codeElementRepeated, pos, r.tag.name)
		r.skipElement()
		return
	}
	if el == elLicense {
		m.License, _ = r.leafURL()
		return
	}
	*field = r.leafText()
}
