// SPDX-License-Identifier: Apache-2.0

package crdcheck

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apiserver/pkg/admission"
	plugin "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/config/policy"
)

// A Policy judges changes as the shipped ValidatingAdmissionPolicy does.
type Policy struct {
	// Shipped is the policy as it is shipped.
	Shipped   *admissionregistrationv1.ValidatingAdmissionPolicy
	evaluator plugin.ConditionEvaluator
}

// A condition is an expression of the policy, as the API server compiles it.
type condition struct{ name, expression string }

func (c condition) GetName() string       { return c.name }
func (c condition) GetExpression() string { return c.expression }

// ReturnTypes are those of the expression: true or false, or anything for a variable.
func (c condition) ReturnTypes() []*cel.Type {
	if c.name != "" {
		return []*cel.Type{cel.AnyType, cel.DynType}
	}
	return []*cel.Type{cel.BoolType}
}

// LoadPolicy returns the shipped policy, as the oldest supported server compiles it: a server accepts only new expressions that its
// predecessor understands too.
func LoadPolicy() (*Policy, error) {
	p := &Policy{Shipped: &admissionregistrationv1.ValidatingAdmissionPolicy{}}
	text, err := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(policy.Fields))).Read()
	if err != nil {
		return nil, err
	}
	if err := yaml.UnmarshalStrict(text, p.Shipped); err != nil {
		return nil, err
	}
	compiler, err := plugin.NewCompositedCompiler(environment.MustBaseEnvSet(version.MajorMinor(1, 30)))
	if err != nil {
		return nil, err
	}
	var none plugin.OptionalVariableDeclarations
	for _, v := range p.Shipped.Spec.Variables {
		r := compiler.CompileAndStoreVariable(condition{v.Name, v.Expression}, none, environment.NewExpressions)
		if r.Error != nil {
			return nil, fmt.Errorf("variable %s: %w", v.Name, r.Error)
		}
	}
	conditions := make([]plugin.ExpressionAccessor, len(p.Shipped.Spec.Validations))
	for i, v := range p.Shipped.Spec.Validations {
		conditions[i] = condition{expression: v.Expression}
	}
	p.evaluator = compiler.CompileCondition(conditions, none, environment.NewExpressions)
	return p, nil
}

// Update returns what the policy forbids of a change, each with the field that its message begins with. An expression that cannot
// be evaluated is an error: the API server would answer that the object is invalid.
func (p *Policy) Update(obj, old map[string]any) (field.ErrorList, error) {
	is, was := &unstructured.Unstructured{Object: obj}, &unstructured.Unstructured{Object: old}
	attributes := admission.NewAttributesRecord(is, was, is.GroupVersionKind(), is.GetNamespace(), is.GetName(),
		schema.GroupVersionResource{}, "", admission.Update, nil, false, nil)
	versioned := &admission.VersionedAttributes{Attributes: attributes, VersionedKind: is.GroupVersionKind()}
	versioned.VersionedObject.Set(is)
	versioned.VersionedOldObject.Set(was)
	results, _, err := p.evaluator.ForInput(context.Background(), versioned, &admissionv1.AdmissionRequest{},
		plugin.OptionalVariableBindings{}, nil, celconfig.RuntimeCELCostBudget)
	if err != nil {
		return nil, err
	}
	var errs field.ErrorList
	for i, r := range results {
		message := p.Shipped.Spec.Validations[i].Message
		if r.Error != nil {
			return nil, fmt.Errorf("%s: %w", message, r.Error)
		}
		if allowed, ok := r.EvalResult.Value().(bool); !ok || !allowed {
			path, text, _ := strings.Cut(message, ": ")
			errs = append(errs, &field.Error{Type: field.ErrorTypeForbidden, Field: path, Detail: text})
		}
	}
	return errs, nil
}
