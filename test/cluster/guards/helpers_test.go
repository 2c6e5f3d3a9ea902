// SPDX-License-Identifier: Apache-2.0

package guards_test

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetwright/fleetwright/test/cluster"
)

func join(requests []cluster.Request) string {
	var lines []string
	for _, r := range requests {
		lines = append(lines, r.String())
	}
	return strings.Join(lines, ", ")
}

func nested(u *unstructured.Unstructured, path ...string) (int64, bool, error) {
	return unstructured.NestedInt64(u.Object, path...)
}
