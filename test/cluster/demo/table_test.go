// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) *metav1.Time { return &metav1.Time{Time: noon.Add(-d)} }

// degraded is a fleet of which a member waits on a dead node.
func degraded() view {
	fleet := &v1alpha1.PersistentFleet{ObjectMeta: metav1.ObjectMeta{Name: "my-fleet"}}
	fleet.Status = v1alpha1.FleetStatus{
		Phase: v1alpha1.PhaseProvisioning, DesiredReplicas: 3, ReadyReplicas: 1,
		Members: []v1alpha1.MemberStatus{
			{Name: "my-fleet-0", Zone: "a", Node: "a-1", Disk: v1alpha1.DiskKept, State: v1alpha1.MemberReady, Since: ago(90 * time.Minute)},
			{Name: "my-fleet-1", Zone: "b", Disk: v1alpha1.DiskLost, State: v1alpha1.MemberMissing},
			{Name: "my-fleet-2", Zone: "c", Node: "c-1", Disk: v1alpha1.DiskFresh, State: v1alpha1.MemberStarting, Since: ago(2500 * time.Millisecond), Message: "its image is pulled"},
		},
		Conditions: []metav1.Condition{{Type: v1alpha1.ConditionReady, Reason: "ReplacingMember", Message: "replacing my-fleet-1 on a fresh disk"}},
	}
	return view{fleet: fleet, events: []eventsv1.Event{
		{Reason: "Scaled", Type: corev1.EventTypeNormal, Note: "adding my-fleet-2"},
		{Reason: "MemberDiskLost", Type: corev1.EventTypeWarning, Note: "the volume of claim data-my-fleet-1 is gone"},
	}}
}

func shown(lines []line, color bool) string {
	var out strings.Builder
	for _, l := range lines {
		out.WriteString(l.render(color) + "\n")
	}
	return out.String()
}

func TestTableShowsTheFleetItsMembersAndWhatTheHealerDid(t *testing.T) {
	require.Equal(t, `
my-fleet  1 of 3 ready  Provisioning  ReplacingMember
replacing my-fleet-1 on a fresh disk

NAME        ZONE  NODE              DISK         STATE        SINCE  MESSAGE
my-fleet-0  a     a-1               Kept         Ready        90m
my-fleet-1  b                       Lost         Missing
my-fleet-2  c     c-1               Fresh        Starting     2s     its image is pulled

Scaled  adding my-fleet-2
MemberDiskLost  the volume of claim data-my-fleet-1 is gone

`, shown(degraded().table(0, noon), false))
}

func TestTableColoursWhatIsWellAndWhatIsNot(t *testing.T) {
	all := shown(degraded().table(0, noon), true)
	for _, want := range []string{
		"\x1b[1mmy-fleet  \x1b[0m", "\x1b[33mProvisioning\x1b[0m", "\x1b[32mReady        \x1b[0m", "\x1b[31mMissing      \x1b[0m",
		"\x1b[33mStarting     \x1b[0m", "\x1b[31mLost         \x1b[0m", "\x1b[2m90m    \x1b[0m", "\x1b[33mMemberDiskLost  \x1b[0m",
	} {
		require.Contains(t, all, want)
	}
}

func TestTableWrapsMessagesAndLeavesOutWhatIsTooMuch(t *testing.T) {
	v := degraded()
	v.fleet.Status.Conditions[0].Message = strings.Repeat("this that ", 15)
	v.events[1].Note = strings.Repeat("here some ", 15)
	v.fleet.Status.Members = nil
	require.Equal(t, `
my-fleet  1 of 3 ready  Provisioning  ReplacingMember
this that this that this that this that
this that this that this that this that
this that this that this that this that…

Scaled  adding my-fleet-2
MemberDiskLost  here some here some here
                some here some here some…

`, shown(v.table(41, noon), false))
}

func TestNoFleetIsNoTable(t *testing.T) {
	require.Empty(t, view{}.table(80, noon))
}

func TestAFleetWithoutStatusIsShown(t *testing.T) {
	v := view{fleet: &v1alpha1.PersistentFleet{ObjectMeta: metav1.ObjectMeta{Name: "my-fleet"}}}
	require.Contains(t, shown(v.table(80, noon), false), "my-fleet  0 of 0 ready")
}

func TestLongOutputsLoseTheirMiddle(t *testing.T) {
	require.Equal(t, "1\n2\n… 6 more lines\n9\n", shown(shorten("1\n2\n3\n4\n5\n6\n7\n8\n9\n", plain), false))
	require.Equal(t, "1\n2\n", shown(shorten("1\n2\n", plain), false))
	require.Empty(t, shorten("", plain))
}
