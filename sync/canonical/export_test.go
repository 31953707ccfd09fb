package canonical

// ReadJSONLD lets tests compare the reader with encoding/json.
func ReadJSONLD(src []byte) (values []string, invalid bool) {
	nodes, invalid, _ := readJSONLD(src)
	for _, n := range nodes {
		values = append(values, n.value)
	}
	return values, invalid
}

// UnwrapJSON lets tests see the text that is read.
func UnwrapJSON(src []byte) []byte {
	b, _ := unwrapJSON(src)
	return b
}

// MaxDepth is the nesting of JSON-LD that is followed.
const MaxDepth = maxDepth
