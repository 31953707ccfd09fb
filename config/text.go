package config

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Bytes is a size. It is written as a number with KiB, MiB, GiB, KB, MB, GB or nothing (bytes).
type Bytes int64

// Units of Bytes.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
)

var units = []struct {
	name string
	size Bytes
}{
	{"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1},
}

// String writes the size with the largest binary unit that divides it.
func (b Bytes) String() string {
	for _, unit := range units[:3] {
		if b != 0 && b%unit.size == 0 {
			return strconv.FormatInt(int64(b/unit.size), 10) + unit.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

func parseBytes(text string) (Bytes, error) {
	number, size := text, Bytes(1)
	for _, unit := range units {
		if rest, found := strings.CutSuffix(text, unit.name); found {
			number, size = strings.TrimSpace(rest), unit.size
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/int64(size) {
		return 0, fmt.Errorf("%q is no size (write for example 64MiB)", text)
	}
	return Bytes(n) * size, nil
}

// parseDuration reads Go's durations and whole days ("30d", "1d12h").
func parseDuration(text string) (time.Duration, error) {
	bad := fmt.Errorf("%q is no duration (write for example 90s, 2m, 12h or 30d)", text)
	days, rest, found := strings.Cut(text, "d")
	if !found {
		days, rest = "0", text
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil {
		return 0, bad
	}
	total := time.Duration(n) * 24 * time.Hour
	if rest != "" || !found {
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 {
			return 0, bad
		}
		total += d
	}
	return total, nil
}

func formatDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func parseBool(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", text)
}

// parsePrefix reads a network, or an address as the network of it alone.
func parsePrefix(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" {
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%q is no network (write for example 10.1.0.0/16 or 127.0.0.1)", text)
	}
	return prefix.Masked(), nil
}

// parseInto reads what a layer holds for a setting, a text or a list of texts, into its
// field. A text for a list is split at commas.
func parseInto(field reflect.Value, raw any) error {
	if field.Kind() == reflect.Slice {
		texts, isList := raw.([]string)
		if !isList {
			texts = strings.Split(raw.(string), ",")
		}
		list := reflect.MakeSlice(field.Type(), 0, len(texts))
		for _, text := range texts {
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
			element := reflect.New(field.Type().Elem()).Elem()
			if err := parseText(element, text); err != nil {
				return err
			}
			list = reflect.Append(list, element)
		}
		if list.Len() == 0 {
			list = reflect.Zero(field.Type())
		}
		field.Set(list)
		return nil
	}
	text, isText := raw.(string)
	if !isText {
		return errors.New("wants one value, not a list")
	}
	if field.Kind() != reflect.String { // a password may end in a blank
		text = strings.TrimSpace(text)
	}
	return parseText(field, text)
}

func parseText(field reflect.Value, text string) error {
	var err error
	switch value := field.Addr().Interface().(type) {
	case *string:
		*value = text
	case *bool:
		*value, err = parseBool(text)
	case *time.Duration:
		*value, err = parseDuration(text)
	case *Bytes:
		*value, err = parseBytes(text)
	case *netip.Prefix:
		*value, err = parsePrefix(text)
	case *int:
		if *value, err = strconv.Atoi(text); err != nil {
			err = fmt.Errorf("%q is no whole number", text)
		}
	case *uint16:
		port, wrong := strconv.ParseUint(text, 10, 16)
		if *value = uint16(port); wrong != nil || port == 0 {
			err = fmt.Errorf("%q is no port (1 to 65535)", text)
		}
	default:
		err = fmt.Errorf("%T cannot be set", value)
	}
	return err
}

// format writes a field so that parseInto reads the same again: a text, or a list of them.
func format(field reflect.Value) any {
	if field.Kind() == reflect.Slice {
		texts := make([]string, field.Len())
		for i := range texts {
			texts[i] = formatText(field.Index(i))
		}
		return texts
	}
	return formatText(field)
}

func formatText(field reflect.Value) string {
	if d, isDuration := field.Interface().(time.Duration); isDuration {
		return formatDuration(d)
	}
	return fmt.Sprint(field.Interface())
}
