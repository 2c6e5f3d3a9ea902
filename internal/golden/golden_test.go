// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// failing is a test that remembers what ended it.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Helper() {}
func (f *failing) Fatalf(format string, args ...any) {
	f.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func compare(file, got string) string {
	f, done := &failing{}, make(chan struct{})
	go func() { defer close(done); Equal(f, file, got) }()
	<-done
	return f.said
}

func TestEqual(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "file")
	require.Contains(t, compare(file, "one\ntwo\n"), "-update writes the file")

	*update = true
	require.True(t, Update())
	require.Empty(t, compare(file, "one\ntwo\n"))
	*update = false
	require.Empty(t, compare(file, "one\ntwo\n"))
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "one\ntwo\n", string(written))

	said := compare(file, "one\nthree\n")
	require.Contains(t, said, `"two"`)
	require.Contains(t, said, `"three"`)
}
