// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// CheckRights compares the rights that a service account has by a file of roles
// with those that it used, by the audit log: what nothing uses is too much. What
// the tests of a package cannot reach is told, as VERB GROUP/RESOURCE. Who
// watches may list: older API servers have no watches that begin with a list.
func (c *Cluster) CheckRights(roles []byte, user string, unused ...string) error {
	objects, err := Decode(roles)
	if err != nil {
		return err
	}
	asked, err := c.requests(0, func(r Request) bool { return r.User == user && r.Code < 400 })
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for _, r := range asked {
		used[r.Verb+" "+r.Group+"/"+r.Resource] = true
		if r.Verb == "watch" {
			used["list "+r.Group+"/"+r.Resource] = true
		}
	}
	var left []string
	for _, object := range objects {
		role := rbacv1.ClusterRole{} // a Role has the same rules
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &role); err != nil {
			return err
		}
		for _, rule := range role.Rules {
			for _, right := range rightsOf(rule) {
				if !used[right] {
					left = append(left, right)
				}
			}
		}
	}
	slices.Sort(left)
	slices.Sort(unused)
	if left = slices.Compact(left); !slices.Equal(left, unused) {
		return fmt.Errorf("%s has these rights and did not use them:\n  %s\nthe tests do not reach these:\n  %s",
			user, strings.Join(left, "\n  "), strings.Join(unused, "\n  "))
	}
	return nil
}

func rightsOf(rule rbacv1.PolicyRule) []string {
	var rights []string
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				rights = append(rights, verb+" "+group+"/"+resource)
			}
		}
	}
	return rights
}
