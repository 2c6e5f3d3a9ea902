// SPDX-License-Identifier: Apache-2.0

// Package crdcheck answers what an API server would say to a custom resource, in process: object metadata, schema, list
// types and CEL rules of the generated CustomResourceDefinitions, in the order and with the code of the API server.
package crdcheck

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/config/crd"
)

// A Checker judges objects of one kind. It is safe for concurrent use.
type Checker struct {
	// CRD is the definition, as it is shipped.
	CRD *apiextensionsv1.CustomResourceDefinition
	// Schema is the structural schema of its only version.
	Schema *schema.Structural

	schemaRules validation.SchemaValidator
	celRules    *cel.Validator
}

// Load returns a Checker for each shipped CustomResourceDefinition, by kind.
func Load() (map[string]*Checker, error) {
	files, err := crd.Files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	checkers := map[string]*Checker{}
	for _, f := range files {
		text, err := crd.Files.ReadFile(f.Name())
		if err != nil {
			return nil, err
		}
		c, err := newChecker(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		checkers[c.CRD.Spec.Names.Kind] = c
	}
	return checkers, nil
}

func newChecker(text []byte) (*Checker, error) {
	c := &Checker{CRD: &apiextensionsv1.CustomResourceDefinition{}}
	if err := yaml.UnmarshalStrict(text, c.CRD); err != nil {
		return nil, err
	}
	if n := len(c.CRD.Spec.Versions); n != 1 {
		return nil, fmt.Errorf("has %d versions, and this package knows how to check one", n)
	}
	props := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
		c.CRD.Spec.Versions[0].Schema.OpenAPIV3Schema, props, nil); err != nil {
		return nil, err
	}
	var err error
	if c.Schema, err = schema.NewStructural(props); err != nil {
		return nil, err
	}
	if c.schemaRules, _, err = validation.NewSchemaValidator(props); err != nil {
		return nil, err
	}
	c.celRules = cel.NewValidator(c.Schema, true, celconfig.PerCallLimit)
	return c, nil
}

// Create returns what the API server finds wrong with a new object.
func (c *Checker) Create(obj map[string]any) field.ErrorList {
	errs := c.metadata(obj)
	errs = append(errs, validation.ValidateCustomResource(nil, obj, c.schemaRules)...)
	return append(errs, c.rest(obj, nil, errs)...)
}

// Update returns what the API server finds wrong with a change of an object, both parts of which it may judge. It is as
// strict as a server that does not excuse unchanged fields.
func (c *Checker) Update(obj, old map[string]any) field.ErrorList {
	errs := c.metadata(obj)
	errs = append(errs, validation.ValidateCustomResourceUpdate(nil, obj, old, c.schemaRules)...)
	return append(errs, c.rest(obj, old, errs)...)
}

// Unknown returns the paths of fields that the API server would drop, or refuse in strict mode.
func (c *Checker) Unknown(obj map[string]any) []string {
	return pruning.PruneWithOptions(runtime.DeepCopyJSON(obj), c.Schema, true,
		schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
}

func (c *Checker) metadata(obj map[string]any) field.ErrorList {
	path := field.NewPath("metadata")
	meta, found, err := objectmeta.GetObjectMeta(obj, false)
	if err != nil {
		return field.ErrorList{field.Invalid(path, nil, err.Error())}
	}
	if !found {
		meta = &metav1.ObjectMeta{}
	}
	namespaced := c.CRD.Spec.Scope == apiextensionsv1.NamespaceScoped
	return apimachineryvalidation.ValidateObjectMeta(meta, namespaced, apimachineryvalidation.NameIsDNSSubdomain, path)
}

// rest applies what stands outside the schema proper. CEL rules are not run on an object whose shape or sizes are wrong,
// as in the API server.
func (c *Checker) rest(obj, old map[string]any, before field.ErrorList) field.ErrorList {
	ctx := context.Background()
	errs := objectmeta.Validate(ctx, nil, obj, c.Schema, false)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, c.Schema, obj)...)
	if c.celRules == nil || slices.ContainsFunc(before, blocksCEL) || slices.ContainsFunc(errs, blocksCEL) {
		return errs
	}
	var oldObject any
	if old != nil {
		oldObject = old
	}
	found, _ := c.celRules.Validate(ctx, nil, c.Schema, obj, oldObject, celconfig.RuntimeCELCostBudget)
	return append(errs, found...)
}

func blocksCEL(err *field.Error) bool {
	switch err.Type {
	case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany,
		field.ErrorTypeTypeInvalid:
		return true
	default:
		return false
	}
}
