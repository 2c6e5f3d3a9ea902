// SPDX-License-Identifier: Apache-2.0

// Package version tells which version a program is.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Of returns what the linker set, else the version of the module that the program was built from, else "unknown".
func Of(linked string) string {
	if linked != "" {
		return linked
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// Line is what a program prints when it is asked: its name, version, Go and platform.
func Line(program, linked string) string {
	return fmt.Sprintf("%s %s %s %s/%s", program, Of(linked), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
