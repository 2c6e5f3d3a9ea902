// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Routing publishes port 8080 at hostnames, by a Gateway or an Ingress. Empty means none; otherwise hostnames, source, and
// exactly one of gateway and ingress are required.
//
// +kubebuilder:validation:XValidation:rule="(has(self.hostnames) && size(self.hostnames) > 0) || !(has(self.source) || has(self.gateway) || has(self.ingress))",fieldPath=.hostnames,message="is required: 1 to 16 names that the fleet answers to"
// +kubebuilder:validation:XValidation:rule="has(self.source) || !(has(self.hostnames) && size(self.hostnames) > 0 || has(self.gateway) || has(self.ingress))",fieldPath=.source,message="is required: the data-plane Pods that may reach port 8080"
// +kubebuilder:validation:XValidation:rule="has(self.gateway) != has(self.ingress) || !(has(self.hostnames) && size(self.hostnames) > 0 || has(self.source) || has(self.gateway))",message="must hold exactly one of gateway and ingress"
type Routing struct {
	// Hostnames that the fleet answers to, 1 to 16; the first label may be '*'.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Hostnames []string `json:"hostnames,omitempty"`
	// Source selects the data-plane Pods of the Gateway or Ingress controller; they may reach port 8080.
	// +optional
	Source *RoutingSource `json:"source,omitempty"`
	// Gateway to attach an HTTPRoute to.
	// +optional
	Gateway *GatewayReference `json:"gateway,omitempty"`
	// Ingress to render.
	// +optional
	Ingress *IngressOptions `json:"ingress,omitempty"`
}

// RoutingSource selects the data-plane Pods of a Gateway or Ingress controller.
type RoutingSource struct {
	// Namespace of the Pods.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Namespace string `json:"namespace"`
	// PodLabels of the Pods.
	// +required
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	PodLabels map[string]string `json:"podLabels"`
}

// GatewayReference names the Gateway that an HTTPRoute attaches to.
type GatewayReference struct {
	// Name of the Gateway.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
	// Namespace of the Gateway. Default: the fleet's.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Namespace string `json:"namespace,omitempty"`
	// SectionName of the listener. Default: every listener that admits the route.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	SectionName string `json:"sectionName,omitempty"`
}

// IngressOptions describes the Ingress to render.
type IngressOptions struct {
	// ClassName is the IngressClass.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	ClassName string `json:"className"`
	// TLSSecretName names a Secret with the certificate of all hostnames. Without it the Ingress serves plain HTTP.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	TLSSecretName string `json:"tlsSecretName,omitempty"`
	// Annotations of the Ingress, at most 32. Keys under celld.eric.dev/ are refused.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('celld.eric.dev/'))",message="must not hold keys under celld.eric.dev/: Fleetwright sets them"
	Annotations map[string]string `json:"annotations,omitempty"`
}
