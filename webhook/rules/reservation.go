// SPDX-License-Identifier: Apache-2.0

package rules

// reservationTouched: a reservation that is deleted, or whose spec changes. The healer writes annotations on it.
func reservationTouched(in *Input) bool {
	return in.is([]Operation{Delete}, Reservations) || in.is([]Operation{Update}, Reservations) && !sameSpec(in.Object, in.Old)
}

// reservation stays for ever: without it a second fleet could write the bucket, and two writers destroy it.
func reservation(in *Input) finding {
	if in.Operation == Delete {
		return deny("metadata.name", "keeps the bucket for its fleet, even after the fleet is gone",
			"keep it; the break-glass procedure says how to give a bucket up")
	}
	return deny("spec", "a bucket stays with its fleet", "create the other fleet on another bucket or prefix")
}
