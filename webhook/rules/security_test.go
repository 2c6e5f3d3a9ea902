// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fleetwright/fleetwright/webhook/internal/rulestest"
	"github.com/fleetwright/fleetwright/webhook/rules"
)

// asks are the requests of the table in docs/security.md. A row stands for all of its requests.
func asks(t testing.TB) map[string][]*rules.Input {
	t.Helper()
	const (
		protect = `{metadata: {annotations: {celld.eric.dev/protect: "true"}}}`
		token   = `{spec: {maintenance: {restartToken: again}}}`
		other   = `[{op: replace, path: /metadata/labels/celld.eric.dev~1fleet-uid, value: ` + rulestest.Foreign + `}]`
	)
	me := rulestest.Live(t)
	live, protected := rulestest.Calm(me), rulestest.Calm(rulestest.Live(t, protect))
	paused := rulestest.Calm(rulestest.Live(t, `{spec: {maintenance: {paused: true}}}`))
	fleet := func(old, object string, facts rules.Facts) *rules.Input {
		return rulestest.FleetInput(t, rulestest.Persistent, old, object, facts)
	}
	object := func(name string, patches ...string) string {
		return rulestest.Rendered(t, rulestest.Fleet(t, rulestest.Persistent, patches...), name)
	}
	set, policy, claim := object("StatefulSet/my-fleet"), object("NetworkPolicy/my-fleet"), rulestest.Claim("data-my-fleet-0", me.Identity)
	in := func(operation rules.Operation, old, object string, facts rules.Facts) *rules.Input {
		return rulestest.Input(t, operation, old, object, facts)
	}
	edit := func(object, patch string) *rules.Input {
		return in(rules.Update, object, rulestest.Edited(t, object, patch), live)
	}
	status := func(object, patch string) *rules.Input {
		request := edit(object, patch)
		request.Subresource = "status"
		return request
	}
	orphan := fleet(`{}`, "", live)
	orphan.Orphan = true
	const reservation = `{"kind":"StorageReservation","metadata":{"name":"s3-0"},"spec":{"identity":"a"}}`
	return map[string][]*rules.Input{
		"delete a fleet":                           {fleet(`{}`, "", live)},
		"delete a protected fleet":                 {fleet(protect, "", protected)},
		"delete a fleet and orphan what it has":    {orphan},
		"create a second fleet on the bucket":      {fleet("", `{metadata: {name: b}}`, live)},
		"delete a definition while a fleet exists": {in(rules.Delete, definition(rules.OurDefinitions()[0]), "", live)},
		"delete a namespace with a protected fleet": {
			in(rules.Delete, `{"kind":"Namespace","metadata":{"name":"fleets"}}`, "", protected)},
		"change a rendered field of the workload":         {edit(set, image), edit(set, restart)},
		"apply what the fleet renders to":                 {in(rules.Update, set, object("StatefulSet/my-fleet", token), live), in(rules.Create, "", set, live)},
		"change the workload's count":                     {edit(set, count3), edit(set, count0)},
		"change the count to 0 while the fleet is paused": {in(rules.Update, set, rulestest.Edited(t, set, count0), paused)},
		"take identity or seal from the workload, through its status too": {
			edit(set, nobody), edit(set, unsaid), edit(set, other), status(set, nobody), status(set, unsaid), status(set, other)},
		"give the workload an owner": {edit(set, withOwner), status(set, withOwner)},
		"delete the workload":        {in(rules.Delete, set, "", live)},
		"create another workload with the fleet's identity": {
			in(rules.Create, "", object("StatefulSet/b", `{metadata: {name: b}, spec: {identity: `+me.Identity+`}}`), live)},
		"change a rendered field of the NetworkPolicy":       {edit(policy, `[{op: remove, path: /spec/ingress/0}]`)},
		"delete the NetworkPolicy":                           {in(rules.Delete, policy, "", live)},
		"delete the NetworkPolicy of a protected fleet":      {in(rules.Delete, policy, "", protected)},
		"create a claim without identity at a member's name": {in(rules.Create, "", rulestest.Claim("data-my-fleet-0", ""), live)},
		"move the identity of a member's claim":              {edit(claim, other), edit(claim, nobody), status(claim, other)},
		"give a member's claim an owner":                     {edit(claim, withOwner), status(claim, withOwner)},
		"delete a current member's claim":                    {in(rules.Delete, claim, "", live)},
		"delete a removed member's claim":                    {in(rules.Delete, rulestest.Claim("data-my-fleet-7", me.Identity), "", live)},
		"change or delete a StorageReservation": {
			edit(reservation, `[{op: replace, path: /spec/identity, value: b}]`), in(rules.Delete, reservation, "", live)},
	}
}

// The table of docs/security.md says what the rules do.
func TestSecurityTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/security.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "\n## Who may do what\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	users := []string{rulestest.Human, rulestest.Healer, "system:serviceaccount:kube-system:generic-garbage-collector", sets}
	requests, rows := asks(t), 0
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) != 1+len(users) || cells[0] == "request" {
			continue
		}
		rows++
		require.Contains(t, requests, cells[0])
		for i, user := range users {
			for _, in := range requests[cells[0]] {
				in.User = user
				outcome := map[string]rules.Outcome{"passes": rules.Allow, "refused": rules.Deny}[cells[1+i]]
				v := rules.Review(in)
				require.Equal(t, outcome, v.Outcome, "%s, by %s: %v", cells[0], user, v.Reasons)
			}
		}
	}
	require.Len(t, requests, rows)
}
