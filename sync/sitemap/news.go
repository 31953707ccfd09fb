package sitemap

import "bytes"

// beginNews opens a news:news.
func (r *Reader) beginNews(pos int) {
	if r.d.News != nil {
		r.report(codeNewsSeveral, pos, nil)
		r.skipElement()
		return
	}
	r.news++
	r.entry.news = News{}
	r.d.News = &r.entry.news
	r.enter(inNews)
}

// finishNews judges a news:news as a whole.
func (r *Reader) finishNews() {
	n := r.d.News
	if n == nil || r.entry.cut {
		return
	}
	for _, required := range [...]struct {
		text Text
		name string
	}{
		{n.Publication.Name, "publication name"}, {n.Publication.Language, "publication language"},
		{n.PublicationDate, "publication_date"}, {n.Title, "title"},
	} {
		if len(required.text) == 0 {
			r.report(codeNewsMissing, r.win.r, []byte(required.name))
		}
	}
	if l := n.Publication.Language; len(l) > 0 && !languageTag(l) {
		r.report(codeNewsInvalid, r.win.r, l)
	}
	switch access := string(bytes.ToLower(n.Access)); access {
	case "", "subscription", "registration":
	default:
		r.report(codeNewsInvalid, r.win.r, n.Access)
	}
	r.canon = appendNews(r.canon[:0], n)
	r.entry.blocks.sum.add(r.canon, nil)
}

// openInNews deals with what stands in a news:news or its news:publication.
func (r *Reader) openInNews(ctx context, fam family, el element, pos int) {
	n := r.d.News
	el = r.inBlock(fam, famNews, el, pos)
	if n == nil {
		r.skipElement()
		return
	}
	switch el {
	case elPublication:
		r.enter(inPublication)
	case elName:
		r.setText(&n.Publication.Name, pos)
	case elLanguage:
		r.setText(&n.Publication.Language, pos)
	case elPublicationDate:
		r.setDate(&n.PublicationDate, codeNewsInvalid, pos)
	case elTitle:
		r.setText(&n.Title, pos)
	case elKeywords:
		r.setText(&n.Keywords, pos)
	case elGenres:
		r.setText(&n.Genres, pos)
	case elAccess:
		r.setText(&n.Access, pos)
	case elStockTickers:
		r.setText(&n.StockTickers, pos)
	case elGeoLocations:
		r.setText(&n.GeoLocations, pos)
	default:
		r.skipElement()
	}
}

// openInPageMap deals with what stands in a PageMap or a DataObject of it.
func (r *Reader) openInPageMap(ctx context, fam family, el element, pos int) {
	b := &r.entry.blocks
	el = r.inBlock(fam, famPageMap, el, pos)
	switch {
	case el == elDataObject && ctx == inPageMap:
		if len(b.objects) >= r.opt.MaxImages {
			r.report(codeBlockLimit, pos, nil)
			r.skipElement()
			return
		}
		b.objects = append(b.objects, DataObject{Type: r.attr("type"), ID: r.attr("id")})
		r.d.PageMap = b.objects
		r.enter(inDataObject)
	case el == elAttribute && ctx == inDataObject:
		o := &b.objects[len(b.objects)-1]
		a := Attribute{Name: r.attr("name"), Value: r.attr("value")}
		if text := r.leafText(); len(a.Value) == 0 {
			a.Value = text
		}
		if len(o.Attributes) < r.opt.MaxImages {
			o.Attributes = append(o.Attributes, a)
		}
	default:
		r.report(codePageMapInvalid, pos, r.tag.name)
		r.skipElement()
	}
}
