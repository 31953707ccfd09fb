package export

// The parts of a workbook that do not depend on its pages (ECMA-376, parts 1 and 2).
const (
	officeRelations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	officeTypes     = "application/vnd.openxmlformats-officedocument.spreadsheetml"
	spreadsheet     = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	packaging       = "http://schemas.openxmlformats.org/package/2006"
	partHead        = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"

	workbookRelation = partHead + `<Relationships xmlns="` + packaging + `/relationships">` +
		`<Relationship Id="rId1" Type="` + officeRelations + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`

	workbookRelations = partHead + `<Relationships xmlns="` + packaging + `/relationships">%s` +
		`<Relationship Id="rId%d" Type="` + officeRelations + `/styles" Target="styles.xml"/></Relationships>`

	workbookTypes = partHead + `<Types xmlns="` + packaging + `/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Default Extension="xml" ContentType="application/xml"/>` +
		`<Override PartName="/xl/workbook.xml" ContentType="` + officeTypes + `.sheet.main+xml"/>` +
		`<Override PartName="/xl/styles.xml" ContentType="` + officeTypes + `.styles+xml"/>%s</Types>`

	workbookPart = partHead + `<workbook xmlns="` + spreadsheet + `" xmlns:r="` + officeRelations + `">` +
		`<sheets>%s</sheets></workbook>`

	// Format 49 is "@", text: a cell of it stays text when it is edited.
	workbookStyles = partHead + `<styleSheet xmlns="` + spreadsheet + `">` +
		`<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>` +
		`<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
		`<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>` +
		`<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
		`<cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>` +
		`<xf numFmtId="49" fontId="1" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/>` +
		`<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs>` +
		`<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`

	// The heading stays in sight.
	sheetHead = partHead + `<worksheet xmlns="` + spreadsheet + `"><sheetViews><sheetView workbookViewId="0">` +
		`<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>`
)
