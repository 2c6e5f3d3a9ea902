// SPDX-License-Identifier: Apache-2.0

package render

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/identity"
)

// PeerServiceName is the headless Service that gives members their DNS names.
func PeerServiceName(fleet string) string { return identity.PeerService(fleet) }

// RoutingName is the HTTPRoute or Ingress of a fleet, and the NetworkPolicy that goes with it.
func RoutingName(fleet string) string { return identity.Routing(fleet) }

// PodName is the Pod of a member.
func PodName(fleet string, ordinal int) string { return fleet + "-" + strconv.Itoa(ordinal) }

// ClaimName is the claim of a member of a PersistentFleet.
func ClaimName(fleet string, ordinal int) string {
	return v1alpha1.DataVolume + "-" + PodName(fleet, ordinal)
}

// ParsePodName tells which fleet and ordinal a Pod name means. It is the inverse of PodName: any other name is refused.
func ParsePodName(name string) (fleet string, ordinal int, ok bool) {
	i := strings.LastIndexByte(name, '-')
	if i <= 0 {
		return "", 0, false
	}
	ordinal, err := strconv.Atoi(name[i+1:])
	if err != nil || ordinal < 0 || PodName(name[:i], ordinal) != name {
		return "", 0, false
	}
	return name[:i], ordinal, true
}

// ParseClaimName tells which fleet and ordinal a claim name means. It is the inverse of ClaimName.
func ParseClaimName(name string) (fleet string, ordinal int, ok bool) {
	pod, ok := strings.CutPrefix(name, v1alpha1.DataVolume+"-")
	if !ok {
		return "", 0, false
	}
	return ParsePodName(pod)
}

// ReservationName is the StorageReservation of a bucket: the scheme and 224 bits of SHA-256 over the name of a whole bucket,
// or the scheme, p and 216 bits over name, NUL and prefix. An Azure account or a named store stands before the name, with a NUL.
// With 63 characters at most it stays usable as a label value.
func ReservationName(u v1alpha1.BucketURL) string {
	name := u.Name
	if u.Store != "" {
		name = u.Store + "\x00" + name
	}
	if u.Prefix == "" {
		return u.Scheme + "-" + hexDigest(name)[:56]
	}
	return u.Scheme + "-p-" + hexDigest(name + "\x00" + u.Prefix)[:54]
}

func hexDigest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
