// SPDX-License-Identifier: Apache-2.0

//go:build !rotate

package serve

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// addRotator says that the program was built without cert-controller.
func addRotator(context.Context, manager.Manager, *certificates, string, Options) error {
	return errors.New("this program was built without rotation: use --tls files, or build it with -tags rotate")
}
