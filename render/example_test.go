// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/render"
)

// smallest returns the smallest fleet.
func smallest() *v1alpha1.PersistentFleet {
	replicas := int32(3)
	f := &v1alpha1.PersistentFleet{ObjectMeta: metav1.ObjectMeta{Name: "my-fleet", Namespace: "fleets"}}
	f.Spec.Replicas = &replicas
	f.Spec.RuntimeImage = "ghcr.io/ewhauser/celld@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	f.Spec.ServiceAccountName = "celld-runtime"
	f.Spec.Storage.Bucket, f.Spec.Storage.Region, f.Spec.Storage.StorageClassName = "s3://my-bucket", "us-east-1", "ebs-delete"
	f.Spec.Placement.Zones = []string{"us-east-1a", "us-east-1b", "us-east-1c"}
	return f
}

// A program that makes fleets itself renders them and sends them where it wants to.
func ExampleRender() {
	objects, err := render.Render(smallest(), render.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range objects {
		fmt.Println(o.Typed.GetObjectKind().GroupVersionKind().Kind, o.Typed.GetName(), len(o.Warnings))
	}
	// Output:
	// PersistentFleet my-fleet 0
	// StatefulSet my-fleet 0
	// PodDisruptionBudget my-fleet 0
	// NetworkPolicy my-fleet 0
	// Service my-fleet 0
	// Service my-fleet-peers 0
}

// What is wrong with a fleet comes back at once, with the paths of its fields.
func ExampleRender_invalid() {
	f := smallest()
	f.Spec.RuntimeImage, f.Namespace = "celld:latest", ""
	_, err := render.Render(f, render.Options{})
	if invalid := new(render.InvalidError); errors.As(err, &invalid) {
		for _, e := range invalid.Errors {
			fmt.Println(e.Field)
		}
	}
	// Output:
	// spec.runtimeImage
	// metadata.namespace
}

func ExampleCompare() {
	before, after := smallest(), smallest()
	after.Spec.Resources.Limits = corev1.ResourceList{"memory": resource.MustParse("2Gi")}
	differences, err := render.Compare(before, after, render.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range differences {
		fmt.Println(d.After.GetObjectKind().GroupVersionKind().Kind)
		for _, field := range d.Fields {
			fmt.Println("  " + field)
		}
	}
	// Output:
	// PersistentFleet
	//   spec.resources
	// StatefulSet
	//   metadata.annotations[celld.eric.dev/spec-digest]
	//   spec.template.spec.containers[celld].resources.limits.memory
}
