// Package documenttest generates documents for tests. Only tests may import it.
package documenttest

import (
	"bytes"
	"fmt"
	"strings"
)

// PDF returns a valid file with a cross-reference table. Every page shows
// "page N" and the text; each line of the text is a line on the page.
func PDF(pages int, text string) []byte {
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", ""}
	var kids strings.Builder
	objects = append(objects, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
	escape := strings.NewReplacer(`\`, `\\`, `(`, `\(`, `)`, `\)`)
	for i := range pages {
		n := len(objects) + 1
		fmt.Fprintf(&kids, "%d 0 R ", n)
		var body strings.Builder
		fmt.Fprintf(&body, "BT /F1 12 Tf 14 TL 72 720 Td (page %d) Tj", i+1)
		for line := range strings.Lines(text) {
			fmt.Fprintf(&body, " T* (%s) Tj", escape.Replace(strings.TrimSuffix(line, "\n")))
		}
		body.WriteString(" ET")
		objects = append(objects,
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>", n+1),
			Stream("", body.String()))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), pages)
	return File("/Root 1 0 R", objects...)
}

// Stream returns a stream object with further dictionary entries.
func Stream(entries, body string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", entries, len(body), body)
}

// File numbers objects from 1 and adds the table and the trailer.
func File(trailer string, objects ...string) []byte {
	var out bytes.Buffer
	out.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	offsets := make([]int, len(objects))
	for i, o := range objects {
		offsets[i] = out.Len()
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	table := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d %s >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, trailer, table)
	return out.Bytes()
}
