package mdtable

import (
	"strings"
	"testing"
)

func TestPrint(t *testing.T) {
	table := Table{Head: []string{"name", "of", "n"}, Texts: 2}
	table.Add("é", "longer", 1)
	table.Add("second", "", 1234)
	var b strings.Builder
	if err := table.Print(&b); err != nil {
		t.Fatal(err)
	}
	const want = `| name   | of     |    n |
| ------ | ------ | ---: |
| é      | longer |    1 |
| second |        | 1234 |
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
