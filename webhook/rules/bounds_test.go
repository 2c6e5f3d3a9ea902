// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/webhook/internal/rulestest"
	"github.com/fleetwright/fleetwright/webhook/rules"
)

// full puts as many labels as an API server stores on an object, and a text full of commas.
func full(t testing.TB, object, prefix string) string {
	t.Helper()
	var labels strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&labels, `"%s%d":"",`, prefix, i)
	}
	out := strings.Replace(object, `"labels":{`, `"labels":{`+labels.String()+`"commas":"`+strings.Repeat(",", 60_000)+`",`, 1)
	require.Greater(t, len(out), len(object)+60_000)
	return out
}

// What an object is full of keeps nobody from changing or deleting it, but for what is guarded.
func TestFullObjects(t *testing.T) {
	me := rulestest.Live(t)
	set := rulestest.Rendered(t, rulestest.Fleet(t, rulestest.Persistent), "StatefulSet/my-fleet")
	for prefix, field := range map[string]string{"l": "spec.template.spec.containers[celld].image", "celld.eric.dev/l": "spec"} {
		t.Run(prefix, func(t *testing.T) {
			full := func(object string) string { return full(t, object, prefix) }
			update := func(was, is string) rules.Verdict {
				return rules.Review(rulestest.Input(t, rules.Update, was, is, rulestest.Calm(me)))
			}
			labelled := strings.Replace(set, `"labels":{`, `"labels":{"team":"a",`, 1)
			requireVerdict(t, nil, update(full(set), full(labelled)))
			requireVerdict(t, []string{field + ": differs"}, update(full(set), full(rulestest.Edited(t, set, image))))
			requireVerdict(t, nil, update(full(set), set))
			requireVerdict(t, []string{"metadata.name: is live"}, rules.Review(rulestest.Input(t, rules.Delete, full(set), "", rulestest.Calm(me))))
			requireVerdict(t, nil, rules.Review(rulestest.Input(t, rules.Delete, full(set), "", rulestest.Calm())))
			claim := func(ordinal string) *rules.Input {
				return rulestest.Input(t, rules.Delete, full(rulestest.Claim("data-my-fleet-"+ordinal, me.Identity)), "", rulestest.Calm(me))
			}
			requireVerdict(t, []string{"metadata.name: is the disk of my-fleet-0"}, rules.Review(claim("0")))
			requireVerdict(t, nil, rules.Review(claim("7")))
		})
	}
	fleet := rulestest.Merged(t, rulestest.Persistent, `{metadata: {annotations: {commas: "`+strings.Repeat(",", 60_000)+`"}}}`)
	requireVerdict(t, nil, rules.Review(rulestest.FleetInput(t, fleet, `{}`, `{spec: {maintenance: {paused: true}}}`, rulestest.Calm(me))))
	requireVerdict(t, nil, rules.Review(rulestest.FleetInput(t, fleet, `{}`, "", rulestest.Calm(me))))
}

// Of an object whose spec is too much to read, the metadata is guarded as of any other, and the spec as a whole.
func TestHugeObjects(t *testing.T) {
	me := rulestest.Live(t)
	set := rulestest.Rendered(t, rulestest.Fleet(t, rulestest.Persistent), "StatefulSet/my-fleet")
	wide := func(object string) string {
		return strings.Replace(object, `"spec":{`, `"spec":{"wide":[`+strings.Repeat(`1,`, 60_000)+`1],`, 1)
	}
	deep := func(object string) string {
		return strings.Replace(object, `"spec":{`, `"spec":{"deep":`+strings.Repeat(`[`, 300)+strings.Repeat(`]`, 300)+`,`, 1)
	}
	for name, huge := range map[string]func(string) string{"wide": wide, "deep": deep} {
		t.Run(name, func(t *testing.T) {
			object := huge(set)
			require.True(t, rulestest.Parsed(t, object).Huge)
			update := func(was, is string) rules.Verdict {
				return rules.Review(rulestest.Input(t, rules.Update, was, is, rulestest.Calm(me)))
			}
			requireVerdict(t, []string{sealPath + ": not what was rendered"}, rules.Review(rulestest.Input(t, rules.Create, "", object, rulestest.Calm(me))))
			requireVerdict(t, []string{"spec: differs"}, update(set, object))
			requireVerdict(t, nil, update(object, rulestest.Edited(t, object, `[{op: add, path: /metadata/labels/team, value: a}]`)))
			requireVerdict(t, []string{uidLabel + ": differs", uidLabel + ": is that of"}, update(object, rulestest.Edited(t, object, nobody)))
			requireVerdict(t, []string{"metadata.ownerReferences: ConfigMap a 1"}, update(set, rulestest.Edited(t, set, withOwner)))
			requireVerdict(t, nil, update(object, set)) // what render prints repairs it
			requireVerdict(t, []string{"metadata.name: is live"}, rules.Review(rulestest.Input(t, rules.Delete, object, "", rulestest.Calm(me))))
			requireVerdict(t, nil, rules.Review(rulestest.Input(t, rules.Delete, object, "", rulestest.Calm())))

			fleet := huge(rulestest.Merged(t, rulestest.Persistent))
			parsed := rulestest.Parsed(t, fleet)
			require.True(t, parsed.Huge)
			in := rulestest.FleetInput(t, rulestest.Persistent, "", `{}`, rulestest.Calm())
			in.Object = parsed
			requireVerdict(t, []string{"spec: holds more than 50000 values"}, rules.Review(in))
			in = rulestest.FleetInput(t, rulestest.Persistent, `{}`, `{}`, rulestest.Calm())
			in.Old = parsed
			requireVerdict(t, nil, rules.Review(in))
			in = rulestest.FleetInput(t, rulestest.Persistent, `{}`, "", rulestest.Calm())
			in.Old = parsed
			requireVerdict(t, nil, rules.Review(in))
			in.Old = rulestest.Parsed(t, strings.Replace(fleet, `"metadata":{`, `"metadata":{"annotations":{"celld.eric.dev/protect":"x"},`, 1))
			requireVerdict(t, []string{"metadata.annotations[celld.eric.dev/protect]: protects"}, rules.Review(in))
		})
	}
	owners := `"ownerReferences":[` + strings.Repeat(`{"kind":"ConfigMap","name":"a","uid":"1"},`, 20_000) + `{"kind":"A","name":"a","uid":"1"}]`
	claim := strings.Replace(rulestest.Claim("data-my-fleet-0", me.Identity), `"metadata":{`, `"metadata":{`+owners+`,`, 1)
	requireVerdict(t, nil, rules.Review(rulestest.Input(t, rules.Update, claim, claim, rulestest.Calm(me))))
	require.Equal(t, rules.Deny, rules.Review(rulestest.Input(t, rules.Update, rulestest.Claim("data-my-fleet-0", me.Identity), claim, rulestest.Calm(me))).Outcome)
}
