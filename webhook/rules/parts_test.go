// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/webhook/internal/rulestest"
	"github.com/fleetwright/fleetwright/webhook/rules"
)

// everything is a fleet of each shape, and the sealed objects that it renders to.
var everything = []struct{ base, patch, object string }{
	{rulestest.Persistent, `{}`, "StatefulSet/my-fleet"},
	{rulestest.Bucket, `{}`, "Deployment/my-fleet"},
	{rulestest.Persistent, `{}`, "PodDisruptionBudget/my-fleet"},
	{rulestest.Persistent, `{}`, "NetworkPolicy/my-fleet"},
	{rulestest.Persistent, `{}`, "Service/my-fleet"},
	{rulestest.Persistent, `{}`, "Service/my-fleet-peers"},
	{rulestest.Persistent, gateway, "HTTPRoute/my-fleet-routing"},
	{rulestest.Persistent, gateway, "NetworkPolicy/my-fleet-routing"},
	{rulestest.Persistent, ingress, "Ingress/my-fleet-routing"},
}

const (
	ingress   = `{spec: {routing: {hostnames: [a.test], source: {namespace: ingress, podLabels: {app: envoy}}, ingress: {className: nginx}}}}`
	withOwner = `[{op: add, path: /metadata/ownerReferences, value: [{kind: ConfigMap, name: a, uid: "1"}]}]`
	unsaid    = `[{op: remove, path: /metadata/annotations/celld.eric.dev~1seal}]`
	nobody    = `[{op: remove, path: /metadata/labels/celld.eric.dev~1fleet-uid}]`
)

// What is rendered beside the workload is what render printed from the start, and has no owner.
func TestPartsAreCreated(t *testing.T) {
	for _, c := range everything {
		t.Run(c.object, func(t *testing.T) {
			me := rulestest.Live(t, c.base, c.patch)
			is := rulestest.Rendered(t, rulestest.Fleet(t, c.base, c.patch), c.object)
			facts := func() rules.Facts { return rulestest.Calm(me) }
			edit := rulestest.Edited(t, is, `[{op: add, path: /metadata/labels/app.kubernetes.io~1name, value: other}]`)
			requireVerdict(t, nil, rules.Review(rulestest.Input(t, rules.Create, "", is, facts())))
			requireVerdict(t, []string{"metadata.ownerReferences: ConfigMap a 1"}, rules.Review(rulestest.Input(t, rules.Create, "", rulestest.Edited(t, is, withOwner), facts())))
			requireVerdict(t, []string{sealPath + ": not what was rendered"}, rules.Review(rulestest.Input(t, rules.Create, "", edit, facts())))
			later := func(object string) *rules.Input {
				return rulestest.Input(t, rules.Update, rulestest.Edited(t, rulestest.Edited(t, is, nobody), unsaid), object, facts())
			}
			requireVerdict(t, nil, rules.Review(later(is)))
			requireVerdict(t, []string{sealPath + ": not what was rendered"}, rules.Review(later(edit)))
			if strings.HasPrefix(c.object, "StatefulSet") || strings.HasPrefix(c.object, "Deployment") {
				return // these have a seal in any case
			}
			requireVerdict(t, nil, rules.Review(rulestest.Input(t, rules.Create, "", rulestest.Edited(t, edit, unsaid), facts())))
			requireVerdict(t, nil, rules.Review(later(rulestest.Edited(t, edit, unsaid))))
		})
	}
}

// A write through the status subresource takes metadata along, so it is judged as any other.
func TestStatusWrites(t *testing.T) {
	const label = "metadata.labels[celld.eric.dev/fleet-uid]"
	other := `[{op: replace, path: /metadata/labels/celld.eric.dev~1fleet-uid, value: ` + rulestest.Foreign + `}]`
	for _, c := range everything {
		t.Run(c.object, func(t *testing.T) {
			me := rulestest.Live(t, c.base, c.patch)
			is := rulestest.Rendered(t, rulestest.Fleet(t, c.base, c.patch), c.object)
			review := func(patch string) rules.Verdict {
				in := rulestest.Input(t, rules.Update, is, rulestest.Edited(t, is, patch), rulestest.Calm(me))
				in.Subresource = "status"
				return rules.Review(in)
			}
			requireVerdict(t, nil, review(`[{op: add, path: /status, value: {a: b}}]`))
			requireVerdict(t, nil, review(`[{op: add, path: /metadata/annotations/team, value: a}]`))
			requireVerdict(t, []string{label + ": differs", label + ": is that of"}, review(nobody))
			requireVerdict(t, []string{label + ": differs", label + ": is that of"}, review(other))
			requireVerdict(t, []string{sealPath + ": is not the seal"}, review(unsaid))
			requireVerdict(t, []string{"metadata.ownerReferences: ConfigMap a 1"}, review(withOwner))
		})
	}
	me := rulestest.Live(t)
	for name, tc := range map[string]struct{ patch, want string }{
		"identity": {nobody, label + ": the disk is that of"}, "another identity": {other, label + ": the disk is that of"},
		"owner": {withOwner, "metadata.ownerReferences: ConfigMap a 1"},
	} {
		t.Run("claim/"+name, func(t *testing.T) {
			claim := rulestest.Claim("data-my-fleet-0", me.Identity)
			in := rulestest.Input(t, rules.Update, claim, rulestest.Edited(t, claim, tc.patch), rulestest.Calm(me))
			in.Subresource = "status"
			requireVerdict(t, []string{tc.want}, rules.Review(in))
		})
	}
	in := rulestest.FleetInput(t, rulestest.Persistent, `{}`, `{spec: {replicas: 0}}`, rulestest.Calm(me)) // its spec does not come through
	in.Subresource = "status"
	requireVerdict(t, nil, rules.Review(in))
}

// A field that a newer API server fills in is warned of and admitted, in every kind and at every depth; what render printed has to
// be there all the same.
func TestFieldsOfANewerServer(t *testing.T) {
	deep := map[string][]string{
		"StatefulSet":         {"/spec/template/spec/containers/0/inANewerServer", "/spec/volumeClaimTemplates/0/spec/inANewerServer"},
		"Deployment":          {"/spec/template/spec/securityContext/inANewerServer", "/spec/strategy/inANewerServer"},
		"PodDisruptionBudget": nil, "NetworkPolicy": {"/spec/ingress/0/inANewerServer"}, "Service": {"/spec/ports/0/inANewerServer"},
		"HTTPRoute": {"/spec/rules/0/backendRefs/0/inANewerServer"}, "Ingress": {"/spec/rules/0/http/inANewerServer"},
	}
	for _, c := range everything {
		kind, _, _ := strings.Cut(c.object, "/")
		for _, path := range append(deep[kind], "/spec/inANewerServer") {
			t.Run(c.object+path, func(t *testing.T) {
				fill := `[{op: add, path: ` + path + `, value: {by: [default]}}]`
				me := rulestest.Live(t, c.base, c.patch)
				was := rulestest.Rendered(t, rulestest.Fleet(t, c.base, c.patch), c.object)
				is := rulestest.Rendered(t, rulestest.Fleet(t, c.base, c.patch, `{spec: {maintenance: {restartToken: again}, network: {credentials: None}}}`), c.object)
				warned := func(v rules.Verdict) {
					t.Helper()
					requireVerdict(t, nil, v)
					require.Len(t, v.Warnings, 1, "%v", v)
					require.Contains(t, v.Warnings[0], "inANewerServer: is not a field that this version of the webhook knows")
				}
				inTemplate := strings.Contains(path, "/template/") // there a policy may add anything to a fresh render
				for _, in := range []*rules.Input{
					rulestest.Input(t, rules.Create, "", rulestest.Edited(t, is, fill), rulestest.Calm(me)),
					rulestest.Input(t, rules.Update, was, rulestest.Edited(t, was, fill), rulestest.Calm(me)),
				} {
					if v := rules.Review(in); inTemplate && len(v.Warnings) == 0 {
						requireVerdict(t, nil, v)
					} else {
						warned(v)
					}
				}
				requireVerdict(t, nil, rules.Review(rulestest.Input(t, rules.Update, rulestest.Edited(t, was, fill), was, rulestest.Calm(me))))
				requireVerdict(t, nil, rules.Review(rulestest.Input(t, rules.Update, rulestest.Edited(t, was, fill), rulestest.Edited(t, was, fill), rulestest.Calm(me))))
				sync := rulestest.Input(t, rules.Update, rulestest.Edited(t, was, fill), rulestest.Edited(t, is, fill), rulestest.Calm(me))
				requireVerdict(t, nil, rules.Review(sync))
				evil := rulestest.Edited(t, rulestest.Edited(t, was, fill), `[{op: add, path: /metadata/labels/app.kubernetes.io~1name, value: other}]`)
				v := rules.Review(rulestest.Input(t, rules.Update, was, evil, rulestest.Calm(me)))
				requireVerdict(t, []string{"metadata.labels[app.kubernetes.io/name]: differs"}, v)
			})
		}
	}
}

// Helm writes its own name on what it installs.
func TestManagedByHelm(t *testing.T) {
	helm := `[{op: replace, path: /metadata/labels/app.kubernetes.io~1managed-by, value: Helm}, {op: add, path: /metadata/annotations/meta.helm.sh~1release-name, value: a}]`
	for _, c := range everything {
		me := rulestest.Live(t, c.base, c.patch)
		is := rulestest.Rendered(t, rulestest.Fleet(t, c.base, c.patch), c.object)
		requireVerdict(t, nil, rules.Review(rulestest.Input(t, rules.Create, "", rulestest.Edited(t, is, helm), rulestest.Calm(me))))
		requireVerdict(t, nil, rules.Review(rulestest.Input(t, rules.Update, is, rulestest.Edited(t, is, helm), rulestest.Calm(me))))
		other := strings.Replace(helm, "Helm", "Other", 1)
		requireVerdict(t, []string{"metadata.labels[app.kubernetes.io/managed-by]: differs"}, rules.Review(rulestest.Input(t, rules.Update, is, rulestest.Edited(t, is, other), rulestest.Calm(me))))
	}
}

// Once a policy adds a sidecar to every write, the healer's writes of the count still pass; nobody else's do, and the healer changes
// nothing of render's own.
func TestHealerPassesBesideAPolicy(t *testing.T) {
	me := rulestest.Live(t)
	set := rulestest.Rendered(t, rulestest.Fleet(t, rulestest.Persistent), "StatefulSet/my-fleet")
	review := func(patches ...string) rules.Verdict {
		object := set
		for _, p := range patches {
			object = rulestest.Edited(t, object, p)
		}
		in := rulestest.Input(t, rules.Update, set, object, rulestest.Calm(me))
		in.User = rulestest.Healer
		return rules.Review(in)
	}
	requireVerdict(t, nil, review(count3))
	requireVerdict(t, nil, review(count3, sidecar))
	require.Equal(t, rules.Deny, review(sidecar).Outcome)
	require.Equal(t, rules.Deny, review(count3, image).Outcome)
	require.Equal(t, rules.Deny, review(count3, sidecar, image).Outcome)
}
