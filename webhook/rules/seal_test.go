// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/internal/seal"
	"github.com/fleetwright/fleetwright/webhook/internal/rulestest"
	"github.com/fleetwright/fleetwright/webhook/rules"
)

const (
	sealPath = "metadata.annotations[celld.eric.dev/seal]"
	sidecar  = `
- {op: add, path: /spec/template/spec/containers/-, value: {name: proxy, image: proxy}}
- {op: add, path: /spec/template/metadata/labels/mesh, value: "on"}
`
	image = `[{op: replace, path: /spec/template/spec/containers/0/image, value: "registry.test/other"}]`
	// The same, and others, in a form that can be joined.
	imageToo   = "\n- {op: replace, path: /spec/template/spec/containers/0/image, value: registry.test/other}\n"
	restartToo = "\n- {op: add, path: /spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt, value: now}\n"
	mine       = "\n- {op: add, path: /spec/template/spec/containers/0/command, value: [sh]}\n"
	stray      = "\n- {op: add, path: /metadata/annotations/celld.eric.dev~1protect, value: \"true\"}\n"
	stray2     = "\n- {op: add, path: /metadata/annotations/celld.eric.dev~1other, value: x}\n"
	strayPath  = "metadata.annotations[celld.eric.dev/protect]"
	restart    = `[{op: add, path: /spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt, value: now}]`
)

func TestSeal(t *testing.T) {
	const (
		celld  = "spec.template.spec.containers[celld]"
		label  = "metadata.labels[celld.eric.dev/fleet-uid]"
		token  = `{spec: {maintenance: {restartToken: again}}}`
		paused = `{spec: {maintenance: {paused: true}}}`
	)
	tests := map[string]struct {
		object       string // StatefulSet/my-fleet unless set
		before       string // merge patch of the fleet that the old object was rendered from
		old          string // JSON patch of the old object
		after, patch string // the same of the new one
		want         []string
	}{
		"nothing":             {},
		"labels and tracking": {patch: `[{op: add, path: /metadata/labels/app.kubernetes.io~1instance, value: x}, {op: add, path: /metadata/annotations/argocd.argoproj.io~1tracking-id, value: x}]`},
		"upgrade":             {after: token},
		"upgrade through a policy with a sidecar":  {old: sidecar, after: token, patch: sidecar},
		"upgrade that takes up a policy":           {after: token, patch: sidecar},
		"upgrade that a policy turns into another": {after: token, patch: image, want: []string{sealPath + ": the result is not what was rendered"}},
		"upgrade over a field of another manager":  {old: mine, after: token, patch: mine, want: []string{sealPath + ": a field that another manager owns stayed"}},
		"pause":                        {after: paused},
		"resume":                       {before: paused},
		"set image":                    {patch: image, want: []string{celld + ".image: differs"}},
		"rollout restart":              {patch: restart, want: []string{"spec.template.metadata.annotations[kubectl.kubernetes.io/restartedAt]: differs"}},
		"edit of a variable":           {patch: `[{op: replace, path: /spec/template/spec/containers/0/env/3/value, value: s3://other}]`, want: []string{celld + ".env[CELLD_BUCKET].value: is \"s3://other\"", celld + ".env[CELLD_BUCKET].value: differs"}},
		"another order of variables":   {patch: `[{op: move, from: /spec/template/spec/containers/0/env/5, path: /spec/template/spec/containers/0/env/4}]`, want: []string{celld + ".env: differs"}},
		"a policy that wakes up later": {patch: sidecar, want: []string{"spec.template.metadata.labels.mesh: on the way in by a mutating policy", "spec.template.spec.containers[proxy]: on the way in by a mutating policy"}},
		"a policy that wakes up beside a restart":      {patch: sidecar + restartToo, want: []string{"spec.template.metadata.annotations[kubectl.kubernetes.io/restartedAt]: differs", "spec.template.metadata.labels.mesh: on the way in", "spec.template.spec.containers[proxy]: on the way in"}},
		"policy's sidecar of another version":          {old: sidecar, patch: strings.Replace(sidecar, "image: proxy", "image: other", 1), want: []string{"spec.template.spec.containers[proxy].image: on the way in by a mutating policy"}},
		"edit beside a policy's sidecar":               {patch: sidecar + imageToo, want: []string{celld + ".image: differs", "spec.template.metadata.labels.mesh: differs", "spec.template.spec.containers[proxy]: differs"}},
		"foreign key":                                  {patch: stray, want: []string{strayPath + ": a key of this project that render does not set"}},
		"foreign label":                                {patch: `[{op: add, path: /metadata/labels/celld.eric.dev~1mine, value: a}]`, want: []string{"metadata.labels[celld.eric.dev/mine]: breaks the seal"}},
		"foreign key of a Service":                     {object: "Service/my-fleet", patch: stray, want: []string{strayPath + ": breaks the seal"}},
		"foreign key goes":                             {old: stray},
		"foreign key goes beside a drift":              {old: stray + imageToo, patch: imageToo},
		"one foreign key of two goes":                  {old: stray + stray2, patch: stray},
		"foreign key becomes another":                  {old: stray, patch: stray2, want: []string{"metadata.annotations[celld.eric.dev/other]: breaks the seal"}},
		"foreign key stays, label changes":             {old: stray, patch: `[{op: add, path: /metadata/annotations/celld.eric.dev~1protect, value: "true"}, {op: add, path: /metadata/labels/team, value: a}]`},
		"foreign key beside a drift":                   {old: imageToo, patch: imageToo + stray, want: []string{strayPath + ": breaks the seal"}},
		"upgrade over a foreign key":                   {old: stray, after: token, patch: stray, want: []string{strayPath + ": breaks the seal"}},
		"upgrade over two, through a policy":           {old: stray + stray2, after: token, patch: stray + stray2 + sidecar, want: []string{strayPath + ": breaks the seal", "metadata.annotations[celld.eric.dev/other]: breaks the seal"}},
		"upgrade over it, and not as rendered":         {old: stray, after: token, patch: stray + imageToo, want: []string{strayPath + ": breaks the seal", sealPath + ": the result is not what was rendered"}},
		"repair of a drift over a foreign key":         {old: stray + imageToo, patch: stray, want: []string{strayPath + ": breaks the seal"}},
		"hand edit beside a foreign key":               {old: stray, patch: stray + imageToo, want: []string{strayPath + ": breaks the seal", celld + ".image: differs"}},
		"a sidecar that is taken back":                 {old: sidecar},
		"repair of a drift":                            {old: image},
		"repair of a drift through a policy":           {old: image, patch: sidecar},
		"repair of a drift, not quite":                 {old: image, patch: `[{op: replace, path: /spec/template/spec/containers/0/image, value: third}]`, want: []string{celld + ".image: differs"}},
		"label beside a drift":                         {old: image, patch: `[{op: add, path: /metadata/labels/team, value: a}, {op: replace, path: /spec/template/spec/containers/0/image, value: "registry.test/other"}]`},
		"rollback":                                     {before: token},
		"seal removed":                                 {patch: `[{op: remove, path: /metadata/annotations/celld.eric.dev~1seal}]`, want: []string{sealPath + ": not the seal"}},
		"seal replaced":                                {patch: `[{op: replace, path: /metadata/annotations/celld.eric.dev~1seal, value: garbage}]`, want: []string{sealPath + ": not the seal"}},
		"seal put back":                                {old: `[{op: remove, path: /metadata/annotations/celld.eric.dev~1seal}]`},
		"garbage stays, label changes":                 {old: `[{op: replace, path: /metadata/annotations/celld.eric.dev~1seal, value: garbage}]`, patch: `[{op: replace, path: /metadata/annotations/celld.eric.dev~1seal, value: garbage}, {op: add, path: /metadata/labels/a, value: b}]`},
		"digest of the spec":                           {patch: `[{op: replace, path: /metadata/annotations/celld.eric.dev~1spec-digest, value: x}]`, want: []string{"metadata.annotations[celld.eric.dev/spec-digest]: differs"}},
		"identity becomes another":                     {patch: `[{op: replace, path: /metadata/labels/celld.eric.dev~1fleet-uid, value: ` + rulestest.Foreign + `}]`, want: []string{label + ": differs", label + ": is that of"}},
		"Service becomes another's":                    {object: "Service/my-fleet", patch: `[{op: replace, path: /metadata/labels/celld.eric.dev~1fleet-uid, value: ` + rulestest.Foreign + `}]`, want: []string{label + ": differs", label + ": is that of"}},
		"identity removed":                             {patch: `[{op: remove, path: /metadata/labels/celld.eric.dev~1fleet-uid}]`, want: []string{label + ": differs", label + ": is that of"}},
		"owner":                                        {patch: `[{op: add, path: /metadata/ownerReferences, value: [{kind: ConfigMap, name: a, uid: "1"}]}]`, want: []string{"metadata.ownerReferences: ConfigMap a 1"}},
		"owner taken away":                             {old: `[{op: add, path: /metadata/ownerReferences, value: [{kind: ConfigMap, name: a, uid: "1"}]}]`},
		"many fields":                                  {patch: `[{op: replace, path: /spec/template/spec, value: {dnsPolicy: None}}]`, want: nil},
		"being deleted":                                {old: `[{op: add, path: /metadata/deletionTimestamp, value: "2026-01-03T00:00:00Z"}]`, patch: image},
		"budget":                                       {object: "PodDisruptionBudget/my-fleet", patch: `[{op: replace, path: /spec/maxUnavailable, value: 2}]`, want: []string{"spec.maxUnavailable: differs"}},
		"policy":                                       {object: "NetworkPolicy/my-fleet", patch: `[{op: remove, path: /spec/ingress/1}]`, want: []string{"spec.ingress[1]: differs"}},
		"Service":                                      {object: "Service/my-fleet", patch: `[{op: add, path: /spec/externalIPs, value: [192.0.2.1]}]`, want: []string{"spec.externalIPs: differs"}},
		"Service gets addresses":                       {object: "Service/my-fleet", patch: `[{op: add, path: /spec/clusterIP, value: 10.0.0.1}, {op: add, path: /spec/clusterIPs, value: [10.0.0.1]}]`},
		"Service of peers":                             {object: "Service/my-fleet-peers", patch: `[{op: replace, path: /spec/publishNotReadyAddresses, value: false}]`, want: []string{"spec.publishNotReadyAddresses: differs"}},
		"Service with an owner":                        {object: "Service/my-fleet", patch: `[{op: add, path: /metadata/ownerReferences, value: [{kind: ConfigMap, name: a, uid: "1"}]}]`, want: []string{"metadata.ownerReferences: ConfigMap a 1"}},
		"Service that is somebody's own":               {object: "Service/my-fleet", old: `[{op: remove, path: /metadata/annotations/celld.eric.dev~1seal}]`, patch: `[{op: remove, path: /metadata/annotations/celld.eric.dev~1seal}, {op: replace, path: /spec/ports, value: []}]`},
		"Service gives up its identity":                {object: "Service/my-fleet", patch: `[{op: remove, path: /metadata/labels/celld.eric.dev~1fleet-uid}]`, want: []string{label + ": differs", label + ": is that of"}},
		"route":                                        {object: "HTTPRoute/my-fleet-routing", before: gateway, after: gateway, patch: `[{op: replace, path: /spec/hostnames, value: [evil.test]}]`, want: []string{"spec.hostnames[0]: differs"}},
		"route, new host":                              {object: "HTTPRoute/my-fleet-routing", before: gateway, after: rulestest.Merged(t, gateway, `{spec: {routing: {hostnames: [b.test]}}}`)},
		"repair of a policy of a fleet with new zones": {object: "NetworkPolicy/my-fleet", old: `[{op: remove, path: /spec/ingress/0}]`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			object := tc.object
			if object == "" {
				object = "StatefulSet/my-fleet"
			}
			old := rulestest.Edited(t, rulestest.Rendered(t, rulestest.Fleet(t, rulestest.Persistent, or(tc.before, "{}")), object), tc.old)
			written := rulestest.Edited(t, rulestest.Rendered(t, rulestest.Fleet(t, rulestest.Persistent, or(tc.after, "{}")), object), tc.patch)
			in := rulestest.Input(t, rules.Update, old, written, rulestest.Calm(rulestest.Live(t)))
			v := rules.Review(in)
			if name == "many fields" {
				require.Equal(t, rules.Deny, v.Outcome)
				require.Len(t, v.Reasons, 9)
				require.Contains(t, v.String(), "more fields differ")
				return
			}
			requireVerdict(t, slices.Sorted(slices.Values(tc.want)), v)

			in.Facts = rulestest.Calm() // a fleet that is gone blocks nothing but the owner that would end the object
			if !strings.Contains(strings.Join(tc.want, ""), "ownerReferences") {
				requireVerdict(t, nil, rules.Review(in))
			}
		})
	}
}

const gateway = `{spec: {routing: {hostnames: [a.test], source: {namespace: ingress, podLabels: {app: envoy}}, gateway: {name: public, namespace: ingress}}}}`

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// Every way out of a denial is one that the fleet has.
func TestRemedies(t *testing.T) {
	tests := map[string]struct{ patch, want string }{
		"image":       {image, "spec.runtimeImage"},
		"restart":     {restart, "spec.maintenance.restartToken"},
		"strategy":    {`[{op: replace, path: /spec/updateStrategy, value: {type: OnDelete}}]`, "spec.maintenance.paused"},
		"partition":   {`[{op: replace, path: /spec/updateStrategy/rollingUpdate/partition, value: 3}]`, "spec.maintenance.paused"},
		"resources":   {`[{op: replace, path: /spec/template/spec/containers/0/resources/limits/memory, value: 9Gi}]`, "spec.resources"},
		"label":       {`[{op: remove, path: /metadata/labels/celld.eric.dev~1fleet}]`, "as they were rendered"},
		"sidecar":     {sidecar, "let it in with the next render, for example with another spec.maintenance.restartToken"},
		"foreign key": {stray, "remove it"},
		"new seal":    {"\n- {op: replace, path: /metadata/annotations/celld.eric.dev~1seal, value: v1 full=0123456789abcdef0123456789abcdef owned=0123456789abcdef0123456789abcdef}\n", "fleetwright render prints"},
		"else":        {`[{op: replace, path: /spec/revisionHistoryLimit, value: 1}]`, "edit the fleet in Git"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			set := rulestest.Rendered(t, rulestest.Fleet(t, rulestest.Persistent), "StatefulSet/my-fleet")
			v := rules.Review(rulestest.Input(t, rules.Update, set, rulestest.Edited(t, set, tc.patch), rulestest.Calm(rulestest.Live(t))))
			require.Equal(t, rules.Deny, v.Outcome)
			for _, r := range v.Reasons {
				require.Contains(t, r.Remedy, tc.want, r.Field)
			}
		})
	}
	_, err := seal.Parse("garbage")
	require.ErrorContains(t, err, "render the object again")
}

// A protected fleet keeps what every fleet has; nothing else is kept, and no other fleet's.
func TestPartProtected(t *testing.T) {
	const (
		protect = `{metadata: {annotations: {celld.eric.dev/protect: "true"}}}`
		going   = `{metadata: {deletionTimestamp: "2026-01-03T00:00:00Z", annotations: {celld.eric.dev/protect: "true"}}}`
		kept    = "metadata.name: has annotation celld.eric.dev/protect"
	)
	tests := map[string]struct {
		object, old string
		facts       rules.Facts
		want        []string
	}{
		"budget":                      {object: "PodDisruptionBudget/my-fleet", facts: rulestest.Calm(rulestest.Live(t, protect)), want: []string{kept}},
		"policy":                      {object: "NetworkPolicy/my-fleet", facts: rulestest.Calm(rulestest.Live(t, protect)), want: []string{kept}},
		"Service":                     {object: "Service/my-fleet", facts: rulestest.Calm(rulestest.Live(t, protect)), want: []string{kept}},
		"Service of peers":            {object: "Service/my-fleet-peers", facts: rulestest.Calm(rulestest.Live(t, protect)), want: []string{kept}},
		"route that is not wanted":    {object: "HTTPRoute/my-fleet-routing", facts: rulestest.Calm(rulestest.Live(t, protect))},
		"its policy":                  {object: "NetworkPolicy/my-fleet-routing", facts: rulestest.Calm(rulestest.Live(t, protect))},
		"of one that was deleted":     {object: "Service/my-fleet", facts: rulestest.Calm(rulestest.Live(t, going)), want: []string{kept}},
		"of a fleet that is going":    {object: "Service/my-fleet", facts: rulestest.Calm(rulestest.Live(t, rulestest.Terminating))},
		"of a fleet that is gone":     {object: "Service/my-fleet", facts: rulestest.Calm()},
		"of a fleet without it":       {object: "Service/my-fleet", facts: rulestest.Calm(rulestest.Live(t))},
		"of a fleet that says True":   {object: "Service/my-fleet", facts: rulestest.Calm(rulestest.Live(t, `{metadata: {annotations: {celld.eric.dev/protect: "True"}}}`)), want: []string{kept}},
		"of a fleet that says false":  {object: "Service/my-fleet", facts: rulestest.Calm(rulestest.Live(t, `{metadata: {annotations: {celld.eric.dev/protect: "false"}}}`))},
		"with another's identity":     {object: "Service/my-fleet", old: `[{op: replace, path: /metadata/labels/celld.eric.dev~1fleet-uid, value: x}]`, facts: rulestest.Calm(rulestest.Live(t, protect))},
		"somebody's own, with labels": {object: "Service/my-fleet", old: `[{op: remove, path: /metadata/annotations/celld.eric.dev~1seal}]`, facts: rulestest.Calm(rulestest.Live(t, protect))},
		"going already":               {object: "Service/my-fleet", old: `[{op: add, path: /metadata/deletionTimestamp, value: "2026-01-03T00:00:00Z"}]`, facts: rulestest.Calm(rulestest.Live(t, protect))},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			old := rulestest.Edited(t, rulestest.Rendered(t, rulestest.Fleet(t, rulestest.Persistent, gateway), tc.object), tc.old)
			requireVerdict(t, tc.want, rules.Review(rulestest.Input(t, rules.Delete, old, "", tc.facts)))
		})
	}
}
