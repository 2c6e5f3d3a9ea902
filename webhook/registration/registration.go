// SPDX-License-Identifier: Apache-2.0

// Package registration says which requests the API server asks the webhook about, and what it does when there is no answer.
//
// Conditions are evaluated by the API server. They keep requests away that no rule would refuse, so that an outage of the
// webhook stops as little as possible: finalizers go, controllers write, namespaces end, and what is not a fleet's is never
// touched.
package registration

import (
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/webhook/rules"
)

// Name of the configuration, of the Service in it and of everything else of the rules.
const Name = "fleetwright-webhook"

// DefaultNamespace is where the webhook runs unless it is told otherwise.
const DefaultNamespace = "fleetwright-system"

// Path that reviews are posted to.
const Path = "/review"

// timeoutSeconds bounds an answer; the webhook itself gives up reading after three seconds.
const timeoutSeconds = 5

// A guard is one entry of the configuration.
type guard struct {
	Name  string // its first label; the rest is the API group
	Rules []admissionregistrationv1.RuleWithOperations
	// Labelled limits the guard to objects with an identity. An object counts as well when it had one before the request.
	Labelled   bool
	Conditions []admissionregistrationv1.MatchCondition
	Policy     admissionregistrationv1.FailurePolicyType
	// Why the policy is what it is.
	Why string
}

const (
	open   = admissionregistrationv1.Ignore
	closed = admissionregistrationv1.Fail

	create = admissionregistrationv1.Create
	update = admissionregistrationv1.Update
	remove = admissionregistrationv1.Delete
)

// Conditions, each of them true for requests that the webhook is asked about. They must never fail: a guard that is closed
// refuses what its condition cannot judge.
var (
	notGoing = condition("not-being-deleted", `request.operation != 'UPDATE' || !has(oldObject.metadata.deletionTimestamp)`)
	newSpec  = condition("spec-changes", `request.operation != 'UPDATE' || object.?spec != oldObject.?spec`)
	rendered = condition("rendered-part-changes", `request.operation != 'UPDATE' || object.?spec != oldObject.?spec || `+
		strings.Join([]string{
			differs("ownerReferences"),
			differs("labels[?'" + v1alpha1.LabelAppName + "']"), differs("labels[?'" + v1alpha1.LabelManagedBy + "']"),
			ownKeyDiffers("labels"), ownKeyDiffers("annotations"),
		}, ` || `))
	// handedOver: an owner that is removed is not asked about, and neither is the garbage collector.
	handedOver = condition("identity-changes-or-new-owner", `request.operation != 'UPDATE' || `+differs("labels[?'"+v1alpha1.LabelFleetUID+"']")+` || `+
		differs("ownerReferences")+` && !object.metadata.?ownerReferences.orValue([]).all(o, o in oldObject.metadata.?ownerReferences.orValue([])) && `+
		notBy("namespace-controller", "generic-garbage-collector"))
)

func condition(name, expression string) admissionregistrationv1.MatchCondition {
	return admissionregistrationv1.MatchCondition{Name: name, Expression: expression}
}

// differs compares a field of the metadata, missing or not.
func differs(field string) string {
	return "object.metadata.?" + field + " != oldObject.metadata.?" + field
}

// ownKeyDiffers is true when a key of this project is added to labels or annotations, taken away or changed. Most updates
// leave the whole map alone, which is cheap to see.
func ownKeyDiffers(in string) string {
	is, was := "object.metadata.?"+in, "oldObject.metadata.?"+in
	ours := "k.startsWith('" + v1alpha1.KeyPrefix + "')"
	return fmt.Sprintf("%[1]s != %[2]s && (%[1]s.orValue({}).exists(k, %[3]s && %[1]s[?k] != %[2]s[?k]) || "+
		"%[2]s.orValue({}).exists(k, %[3]s && !(k in %[1]s.orValue({}))))", is, was, ours)
}

// guards are the entries, in the order of the rules.
func guards() []guard {
	const group = "celld.eric.dev"
	fleets := func(operations ...admissionregistrationv1.OperationType) []admissionregistrationv1.RuleWithOperations {
		return on(group, "v1alpha1", operations, rules.PersistentFleets, rules.BucketFleets)
	}
	workloads := []string{rules.StatefulSets, rules.Deployments}
	return []guard{
		{
			Name: "fleet-create", Rules: fleets(create), Policy: closed,
			Why: "two fleets of one name or identity would share disks and bucket, and nothing but this guard tells them apart",
		},
		{
			Name: "fleet-update", Rules: fleets(update), Conditions: conditions(notGoing, newSpec), Policy: open,
			Why: "the definitions' own rules and policy refuse such changes too; this guard adds messages and warnings",
		},
		{
			Name: "fleet-scale",
			Rules: on(group, "v1alpha1", []admissionregistrationv1.OperationType{update},
				subresources([]string{rules.PersistentFleets, rules.BucketFleets}, "scale")...),
			Conditions: conditions(condition("count-grows", `object.?spec.?replicas.orValue(0) > oldObject.?spec.?replicas.orValue(0)`)),
			Policy:     open,
			Why:        "members that no zone can hold wait, and lose nothing",
		},
		{
			Name: "fleet-delete", Rules: fleets(remove), Policy: closed,
			Conditions: conditions(condition("protected-or-orphan", `'`+v1alpha1.AnnotationProtect+`' in oldObject.metadata.?annotations.orValue({}) || `+
				`'orphan' in oldObject.metadata.?finalizers.orValue([]) || `+
				`request.?options.?propagationPolicy.orValue('') == 'Orphan' || request.?options.?orphanDependents.orValue(false)`),
				condition("not-by-control-plane", notBy("namespace-controller"))),
			Why: "only protected fleets, and deletions that are to keep what would be lost, are asked about; ending a namespace does not come by here",
		},
		{
			Name: "workload", Rules: append(on("apps", "v1", []admissionregistrationv1.OperationType{create, update, remove}, workloads...),
				on("apps", "v1", []admissionregistrationv1.OperationType{update}, subresources(workloads, "status")...)...),
			Labelled: true, Policy: closed,
			// The garbage collector is asked about: it deletes a workload only for an owner, and no workload may have one.
			Conditions: conditions(notGoing, rendered,
				condition("not-by-control-plane", `request.operation != 'DELETE' || `+notBy("namespace-controller"))),
			Why: "a changed template restarts every member, and a deletion ends them; rollouts, what controllers report, and ending a namespace, do not come by here",
		},
		{
			Name: "scale", Rules: on("apps", "v1", []admissionregistrationv1.OperationType{update}, subresources(workloads, "scale")...),
			Conditions: conditions(
				condition("of-a-fleet", `oldObject.?status.?selector.orValue('').contains('`+v1alpha1.LabelFleetUID+`=')`),
				condition("count-changes", `object.?spec.?replicas.orValue(0) != oldObject.?spec.?replicas.orValue(0)`)),
			Policy: closed,
			Why:    "a count that anybody lowers ends members at once; a Scale has no labels, so the fleet is known by its selector",
		},
		{
			Name: "part",
			Rules: slices.Concat(written("policy", rules.Budgets), written("networking.k8s.io", rules.NetworkPolicies, rules.Ingresses),
				written("", rules.Services), written("gateway.networking.k8s.io", rules.HTTPRoutes)),
			Labelled: true,
			Conditions: conditions(notGoing, condition("sealed", `'`+v1alpha1.AnnotationSeal+`' in object.metadata.?annotations.orValue({}) || `+
				`request.operation == 'UPDATE' && '`+v1alpha1.AnnotationSeal+`' in oldObject.metadata.?annotations.orValue({})`),
				rendered),
			Policy: closed,
			Why:    "the policy is all that protects the operator API of members, and the budget all that protects them from drains",
		},
		{
			Name: "part-delete",
			Rules: append(append(on("policy", "v1", []admissionregistrationv1.OperationType{remove}, rules.Budgets),
				on("networking.k8s.io", "v1", []admissionregistrationv1.OperationType{remove}, rules.NetworkPolicies)...),
				on("", "v1", []admissionregistrationv1.OperationType{remove}, rules.Services)...),
			Labelled: true,
			Conditions: conditions(condition("sealed", `'`+v1alpha1.AnnotationSeal+`' in oldObject.metadata.?annotations.orValue({})`),
				condition("not-by-control-plane", notBy("namespace-controller", "generic-garbage-collector"))),
			Policy: open,
			Why:    "parts of every fleet are asked about and only those of protected ones kept; one that went comes back with a sync",
		},
		{
			Name: "claim", Rules: append(on("", "v1", []admissionregistrationv1.OperationType{update, remove}, rules.Claims),
				on("", "v1", []admissionregistrationv1.OperationType{update}, rules.Claims+"/status")...),
			Labelled: true,
			Conditions: conditions(notGoing, handedOver,
				condition("not-by-control-plane", `request.operation != 'DELETE' || `+notBy("namespace-controller", "generic-garbage-collector"))),
			Policy: closed,
			Why:    "a disk that is deleted does not come back; binding a claim, and ending a namespace, do not come by here",
		},
		{
			Name: "claim-by-name", Rules: on("", "v1", []admissionregistrationv1.OperationType{create}, rules.Claims),
			Conditions: conditions(condition("name-of-a-member", `object.metadata.?name.orValue('').matches('^data-.+-[0-9]+$')`)),
			Policy:     open,
			Why:        "claims of everybody have such names; the healer too looks at a claim before it adds a member on it",
		},
		{
			Name: "reservation", Rules: on(group, "v1alpha1", []admissionregistrationv1.OperationType{update, remove}, rules.Reservations),
			Conditions: conditions(newSpec), Policy: closed,
			Why: "without its reservation a second fleet could write the bucket; the healer's annotations do not come by here",
		},
		{
			Name: "definition", Rules: on("apiextensions.k8s.io", "v1", []admissionregistrationv1.OperationType{remove}, rules.Definitions),
			Conditions: conditions(
				condition("ours", "oldObject.metadata.?name.orValue('') in ['"+strings.Join(rules.OurDefinitions(), "', '")+"']"),
				condition("not-going-already", `!has(oldObject.metadata.deletionTimestamp)`)),
			Policy: closed,
			Why:    "the API server deletes all fleets of a definition that is deleted, protected ones too, and asks nobody about them",
		},
		{
			Name: "namespace", Rules: on("", "v1", []admissionregistrationv1.OperationType{remove}, rules.Namespaces),
			Conditions: conditions(condition("not-going-already", `!has(oldObject.metadata.deletionTimestamp)`)),
			Policy:     open,
			Why:        "every namespace is asked about and only those with protected fleets kept; an outage must not keep all the others",
		},
	}
}

// written are creations and updates of a kind's objects, and of their metadata through the status.
func written(group string, resources ...string) []admissionregistrationv1.RuleWithOperations {
	return append(on(group, "v1", []admissionregistrationv1.OperationType{create, update}, resources...),
		on(group, "v1", []admissionregistrationv1.OperationType{update}, subresources(resources, "status")...)...)
}

// notBy is true for users other than some controllers of the control plane.
func notBy(controllers ...string) string {
	users := make([]string, 0, 1+len(controllers))
	users = append(users, "'system:kube-controller-manager'")
	for _, c := range controllers {
		users = append(users, "'system:serviceaccount:kube-system:"+c+"'")
	}
	return fmt.Sprintf("!(request.userInfo.username in [%s])", strings.Join(users, ", "))
}

func conditions(c ...admissionregistrationv1.MatchCondition) []admissionregistrationv1.MatchCondition {
	return c
}

func subresources(resources []string, name string) []string {
	out := make([]string, len(resources))
	for i, r := range resources {
		out[i] = r + "/" + name
	}
	return out
}

func on(group, version string, operations []admissionregistrationv1.OperationType, resources ...string,
) []admissionregistrationv1.RuleWithOperations {
	scope := admissionregistrationv1.NamespacedScope
	if slices.Contains([]string{rules.Reservations, rules.Definitions, rules.Namespaces}, resources[0]) {
		scope = admissionregistrationv1.ClusterScope
	}
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: operations,
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{group}, APIVersions: []string{version}, Resources: resources, Scope: &scope,
		},
	}}
}

// Configuration is what is applied to a cluster. It has no caBundle, which whoever makes the certificates fills in: a sync
// tool does not see what it does not set.
func Configuration(namespace string) *admissionregistrationv1.ValidatingWebhookConfiguration {
	c := &admissionregistrationv1.ValidatingWebhookConfiguration{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: "ValidatingWebhookConfiguration"},
		ObjectMeta: metav1.ObjectMeta{Name: Name, Labels: map[string]string{"app.kubernetes.io/name": Name}},
	}
	for _, g := range guards() {
		c.Webhooks = append(c.Webhooks, g.entry(namespace))
	}
	return c
}

func (g *guard) entry(namespace string) admissionregistrationv1.ValidatingWebhook {
	path, port, timeout := Path, int32(443), int32(timeoutSeconds)
	none, equivalent, policy := admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.Equivalent, g.Policy
	selector := &metav1.LabelSelector{}
	if g.Labelled {
		selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: v1alpha1.LabelFleetUID, Operator: metav1.LabelSelectorOpExists}}
	}
	return admissionregistrationv1.ValidatingWebhook{
		Name: g.Name + "." + v1alpha1.GroupVersion.Group,
		ClientConfig: admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{
			Namespace: namespace, Name: Name, Path: &path, Port: &port,
		}},
		Rules: g.Rules, FailurePolicy: &policy, MatchPolicy: &equivalent, SideEffects: &none, TimeoutSeconds: &timeout,
		NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: selector,
		AdmissionReviewVersions: []string{"v1"}, MatchConditions: g.Conditions,
	}
}
