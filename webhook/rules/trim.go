// SPDX-License-Identifier: Apache-2.0

package rules

import "bytes"

// withoutManagedFields cuts metadata.managedFields out of an object's JSON. They are half of most objects, no rule reads
// them, and a pass over bytes is cheaper than a tree. Text that is not as expected comes back as it is.
func withoutManagedFields(raw []byte) []byte {
	start, end := valueOf(raw, "metadata")
	if start < 0 {
		return raw
	}
	from, to := valueOf(raw[start:end], "managedFields")
	if from < 0 {
		return raw
	}
	out := make([]byte, 0, len(raw)-(to-from)+4)
	out = append(out, raw[:start+from]...)
	out = append(out, "null"...)
	return append(out, raw[start+to:]...)
}

// valueOf finds the value at a key of a JSON object, -1 when there is none.
func valueOf(object []byte, key string) (start, end int) {
	depth, wanted := 0, false
	for i := 0; i < len(object); i++ {
		switch c := object[i]; c {
		case '"':
			closing := endOfString(object, i)
			if closing < 0 {
				return -1, -1
			}
			if depth == 1 && !wanted {
				wanted = string(object[i+1:closing]) == key && isKey(object[closing+1:])
				if wanted {
					i = closing + 1 + bytes.IndexByte(object[closing+1:], ':')
					start = i + 1
					continue
				}
			}
			i = closing
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if wanted && depth == 1 {
				return start, i + 1
			}
			if depth <= 0 {
				return -1, -1
			}
		case ',':
			if wanted && depth == 1 {
				return -1, -1 // a scalar, not what is looked for
			}
		}
	}
	return -1, -1
}

// isKey says whether a string is followed by a colon.
func isKey(after []byte) bool {
	after = bytes.TrimLeft(after, " \t\r\n")
	return len(after) > 0 && after[0] == ':'
}

// endOfString is the index of the closing quote of a string that opens at an index, -1 when it never closes.
func endOfString(text []byte, open int) int {
	for i := open + 1; ; i++ {
		next := bytes.IndexByte(text[i:], '"')
		if next < 0 {
			return -1
		}
		i += next
		escapes := 0
		for i-1-escapes > open && text[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
}
