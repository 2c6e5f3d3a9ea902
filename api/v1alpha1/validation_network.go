// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	s3Bucket    = lazily(`^[a-z0-9][-a-z0-9.]+[a-z0-9]$`)
	gsBucket    = lazily(`^[a-z0-9][-a-z0-9._]+[a-z0-9]$`)
	azContainer = lazily(`^[a-z0-9](-?[a-z0-9])+$`)
	prefix      = lazily(`^[a-zA-Z0-9_][-a-zA-Z0-9_.=]*(/[a-zA-Z0-9_][-a-zA-Z0-9_.=]*)*$`)

	regionName   = pattern{lazily(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`), 63, "must be a region, such as us-east-1"}
	azureAccount = pattern{lazily(`^[a-z0-9]{3,24}$`), 24,
		"must be a storage account: 3 to 24 lower-case letters and digits"}
	httpURL = pattern{lazily(`^https?://([a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?|\[[0-9a-fA-F:.]+\])` +
		`(:([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?(/[-a-zA-Z0-9_.~%/]*)?$`), 512,
		"must be http://HOST[:PORT][/PATH] or https://..., without credentials, query or fragment"}
)

func (s *ObjectStore) validate(path *field.Path) field.ErrorList {
	bucket := path.Child("bucket")
	var errs field.ErrorList
	switch {
	case s.Bucket == "":
		errs = append(errs, field.Required(bucket, "the bucket of the fleet, such as s3://my-bucket"))
	case !isBucket(s.Bucket):
		errs = append(errs, field.Invalid(bucket, s.Bucket, bucketRemedy(s.Bucket)))
	}
	scheme := s.BucketURL().Scheme
	region, account := path.Child("region"), path.Child("azureAccount")
	aws := scheme != SchemeGS && scheme != SchemeAzure
	errs = append(errs, presence(region, s.Region, aws, "AWS_REGION of an s3 bucket",
		"is for s3 buckets: celld on gs:// and az:// refuses AWS variables; remove it", regionName)...)
	errs = append(errs, presence(account, s.AzureAccount, scheme == SchemeAzure, "the storage account of an az:// bucket",
		"is for az:// buckets; remove it", azureAccount)...)
	store := path.Child("store")
	errs = append(errs, optional(store, s.Store, label)...)
	if s.Store != "" && s.Endpoint.URL == "" {
		errs = append(errs, field.Forbidden(store, "names an S3-compatible store, so it needs endpoint.url: set that, or remove it"))
	}
	return append(errs, s.Endpoint.validate(path.Child("endpoint"), aws)...)
}

// isBucket accepts what the object stores themselves take for a name, and prefixes that need no escaping.
func isBucket(bucket string) bool {
	name, rest, prefixed := strings.Cut(bucket, "/")
	scheme, after, found := strings.Cut(bucket, "://")
	if found {
		name, rest, prefixed = strings.Cut(after, "/")
	}
	valid, most := s3Bucket, 63
	switch {
	case !found || scheme == SchemeS3:
	case scheme == SchemeGS:
		valid, most = gsBucket, 222
	case scheme == SchemeAzure:
		valid = azContainer
		if len(strings.ReplaceAll(name, "-", "")) < 3 {
			return false
		}
	default:
		return false
	}
	return len(bucket) <= 512 && len(name) >= 3 && len(name) <= most && valid().MatchString(name) &&
		(!prefixed || prefix().MatchString(rest))
}

func bucketRemedy(bucket string) string {
	scheme, _, found := strings.Cut(bucket, "://")
	switch {
	case strings.HasSuffix(bucket, "/"):
		return "must not end in '/': remove it"
	case found && scheme != SchemeS3 && scheme != SchemeGS && scheme != SchemeAzure:
		return "must start with s3://, gs:// or az://, or be a bare S3 bucket name"
	default:
		return "must be s3://NAME[/PREFIX], gs://NAME[/PREFIX], az://CONTAINER[/PREFIX] or a bare S3 name: " +
			"names in lower case, prefixes without empty segments or leading dots"
	}
}

// presence checks a value that must be there when wanted and must not be there otherwise.
func presence(path *field.Path, value string, wanted bool, purpose, otherwise string, p pattern) field.ErrorList {
	if wanted {
		return required(path, value, purpose, p)
	}
	if value != "" {
		return field.ErrorList{field.Forbidden(path, otherwise)}
	}
	return nil
}

func (e *Endpoint) validate(path *field.Path, aws bool) field.ErrorList {
	if *e == (Endpoint{}) {
		return nil
	}
	var errs field.ErrorList
	if !aws {
		errs = append(errs, field.Forbidden(path, "is for s3 buckets: celld on gs:// and az:// refuses S3_ENDPOINT; remove it"))
	}
	errs = append(errs, validateURL(path.Child("url"), e.URL, "the URL of the store")...)
	return append(errs, optional(path.Child("credentialsSecretName"), e.CredentialsSecretName, subdomain)...)
}

// validateURL is required for a URL. What is wrong with it may hold a secret, so an error shows neither credentials nor query.
func validateURL(path *field.Path, value, purpose string) field.ErrorList {
	errs := required(path, value, purpose, httpURL)
	for _, err := range errs {
		if err.Type == field.ErrorTypeInvalid {
			err.BadValue = withoutSecrets(value)
		}
	}
	return errs
}

func withoutSecrets(url string) string {
	url, _, queried := strings.Cut(url, "?")
	scheme, rest, found := strings.Cut(url, "://")
	if !found {
		scheme, rest = "", url
	} else {
		scheme += "://"
	}
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		rest = "***" + rest[at:]
	}
	if queried {
		rest += "?***"
	}
	return scheme + rest
}

var ratio = pattern{lazily(`^(0(\.[0-9]+)?|1(\.0+)?)$`), 64, "must be a number from 0 to 1, such as 0.1"}

var samplers = []string{"always_on", "always_off", "traceidratio",
	"parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio"}

func (t *Telemetry) validate(path *field.Path) field.ErrorList {
	if *t == (Telemetry{}) {
		return nil
	}
	errs := validateURL(path.Child("collectorURL"), t.CollectorURL, "the collector to export to, since other telemetry fields are set")
	if t.Egress == nil {
		errs = append(errs, field.Required(path.Child("egress"), "where the collector is, so that the NetworkPolicy admits it: cidr or podLabels"))
	} else {
		errs = append(errs, t.Egress.validate(path.Child("egress"))...)
	}
	errs = append(errs, oneOf(path.Child("sampler"), t.Sampler, samplers...)...)
	errs = append(errs, optional(path.Child("samplerArg"), t.SamplerArg, ratio)...)
	if t.SamplerArg != "" && t.Sampler == "" {
		errs = append(errs, field.Required(path.Child("sampler"), "the sampler that samplerArg is for"))
	}
	errs = append(errs, inRange(path.Child("flushMilliseconds"), t.FlushMilliseconds, 1, 3_600_000)...)
	errs = append(errs, inRange(path.Child("flushBytes"), t.FlushBytes, 1, 1<<30)...)
	if t.HeadersSecretKeyRef != nil {
		errs = append(errs, t.HeadersSecretKeyRef.validate(path.Child("headersSecretKeyRef"))...)
	}
	return errs
}

func (e *TelemetryEgress) validate(path *field.Path) field.ErrorList {
	errs := exactlyOne(path, e.CIDR != "", e.PodLabels != nil, "cidr", "podLabels")
	if e.CIDR != "" && !singleAddress(e.CIDR) {
		errs = append(errs, field.Invalid(path.Child("cidr"), e.CIDR, "must be one address, as a.b.c.d/32 or an IPv6 address with /128"))
	}
	if e.PodLabels != nil {
		errs = append(errs, validateSelectorLabels(path.Child("podLabels"), e.PodLabels)...)
	} else if e.Namespace != "" {
		errs = append(errs, field.Forbidden(path.Child("namespace"), "must not be set without podLabels"))
	}
	return append(errs, optional(path.Child("namespace"), e.Namespace, label)...)
}

func singleAddress(cidr string) bool {
	p, err := netip.ParsePrefix(cidr)
	return err == nil && !p.Addr().Is4In6() && p.IsSingleIP()
}

// exactlyOne checks that one of two fields is there, and not the other.
func exactlyOne(path *field.Path, a, b bool, nameA, nameB string) field.ErrorList {
	switch {
	case a && b:
		return field.ErrorList{field.Forbidden(path, nameA+" and "+nameB+" exclude each other: keep one of them")}
	case !a && !b:
		return field.ErrorList{field.Required(path, "exactly one of "+nameA+" and "+nameB)}
	default:
		return nil
	}
}

// validateSelectorLabels checks labels that select Pods: at least one, since none would select every Pod.
func validateSelectorLabels(path *field.Path, labels map[string]string) field.ErrorList {
	if len(labels) == 0 {
		return field.ErrorList{field.Required(path, "at least one label: none would select every Pod")}
	}
	return append(atMostItems(path, len(labels), 16), validateLabels(path, labels)...)
}

func (n *Network) validate(path *field.Path) field.ErrorList {
	errs := oneOf(path.Child("credentials"), n.Credentials, CredentialsEKS, CredentialsGKE, CredentialsAzure, CredentialsNone)
	dns := path.Child("dns")
	errs = append(errs, optional(dns.Child("namespace"), n.DNS.Namespace, label)...)
	errs = append(errs, atMostItems(dns.Child("podLabels"), len(n.DNS.PodLabels), 16)...)
	errs = append(errs, validateLabels(dns.Child("podLabels"), n.DNS.PodLabels)...)
	extra := path.Child("extraEgress")
	errs = append(errs, atMostItems(extra, len(n.ExtraEgress), 32)...)
	for i := range n.ExtraEgress {
		rule := extra.Index(i)
		for j := range n.ExtraEgress[i].Ports {
			errs = append(errs, validatePolicyPort(rule.Child("ports").Index(j), &n.ExtraEgress[i].Ports[j])...)
		}
		for j := range n.ExtraEgress[i].To {
			errs = append(errs, validatePolicyPeer(rule.Child("to").Index(j), &n.ExtraEgress[i].To[j])...)
		}
	}
	return errs
}

func validatePolicyPort(path *field.Path, p *networkingv1.NetworkPolicyPort) field.ErrorList {
	var errs field.ErrorList
	if p.Protocol != nil {
		errs = oneOf(path.Child("protocol"), *p.Protocol, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)
	}
	port := path.Child("port")
	switch {
	case p.Port == nil:
	case p.Port.Type == intstr.Int:
		errs = append(errs, inRange(port, &p.Port.IntVal, 1, 65535)...)
	default:
		for _, msg := range validation.IsValidPortName(p.Port.StrVal) {
			errs = append(errs, field.Invalid(port, p.Port.StrVal, msg))
		}
	}
	if p.EndPort != nil {
		if p.Port == nil || p.Port.Type != intstr.Int {
			errs = append(errs, field.Forbidden(path.Child("endPort"), "needs a number in port"))
		} else {
			errs = append(errs, inRange(path.Child("endPort"), p.EndPort, p.Port.IntVal, 65535)...)
		}
	}
	return errs
}

func validatePolicyPeer(path *field.Path, p *networkingv1.NetworkPolicyPeer) field.ErrorList {
	selects := p.PodSelector != nil || p.NamespaceSelector != nil
	if errs := exactlyOne(path, p.IPBlock != nil, selects, "ipBlock", "a selector of Pods or namespaces"); errs != nil {
		return errs
	}
	errs := validateSelector(path.Child("namespaceSelector"), p.NamespaceSelector)
	errs = append(errs, validateSelector(path.Child("podSelector"), p.PodSelector)...)
	if p.IPBlock == nil {
		return errs
	}
	block := path.Child("ipBlock")
	outer, err := netip.ParsePrefix(p.IPBlock.CIDR)
	if err != nil {
		return append(errs, field.Invalid(block.Child("cidr"), p.IPBlock.CIDR, "must be an address range, such as 10.0.0.0/8"))
	}
	for i, except := range p.IPBlock.Except {
		inner, err := netip.ParsePrefix(except)
		if err != nil || !outer.Contains(inner.Addr()) || inner.Bits() <= outer.Bits() {
			errs = append(errs, field.Invalid(block.Child("except").Index(i), except, "must be an address range inside cidr"))
		}
	}
	return errs
}

func validateSelector(path *field.Path, selector *metav1.LabelSelector) field.ErrorList {
	if selector == nil {
		return nil
	}
	errs := validateLabels(path.Child("matchLabels"), selector.MatchLabels)
	for i, r := range selector.MatchExpressions {
		errs = append(errs, metav1validation.ValidateLabelSelectorRequirement(r,
			metav1validation.LabelSelectorValidationOptions{}, path.Child("matchExpressions").Index(i))...)
	}
	return errs
}

func (r *Routing) validate(path *field.Path) field.ErrorList {
	if !r.Enabled() {
		return nil
	}
	hostnames := path.Child("hostnames")
	var errs field.ErrorList
	if len(r.Hostnames) == 0 {
		errs = append(errs, field.Required(hostnames, "1 to 16 names that the fleet answers to"))
	}
	errs = append(errs, atMostItems(hostnames, len(r.Hostnames), 16)...)
	for i, h := range r.Hostnames {
		errs = append(errs, match(hostnames.Index(i), h, hostname)...)
		if slices.Contains(r.Hostnames[:i], h) {
			errs = append(errs, field.Duplicate(hostnames.Index(i), h))
		}
	}
	if source := path.Child("source"); r.Source == nil {
		errs = append(errs, field.Required(source, "the data-plane Pods that may reach port 8080"))
	} else {
		errs = append(errs, required(source.Child("namespace"), r.Source.Namespace, "the namespace of the data-plane Pods", label)...)
		errs = append(errs, validateSelectorLabels(source.Child("podLabels"), r.Source.PodLabels)...)
	}
	errs = append(errs, exactlyOne(path, r.Gateway != nil, r.Ingress != nil, "gateway", "ingress")...)
	if g := path.Child("gateway"); r.Gateway != nil {
		errs = append(errs, required(g.Child("name"), r.Gateway.Name, "the name of the Gateway", subdomain)...)
		errs = append(errs, optional(g.Child("namespace"), r.Gateway.Namespace, label)...)
		errs = append(errs, optional(g.Child("sectionName"), r.Gateway.SectionName, subdomain)...)
	}
	if i := path.Child("ingress"); r.Ingress != nil {
		errs = append(errs, required(i.Child("className"), r.Ingress.ClassName, "the IngressClass", subdomain)...)
		errs = append(errs, optional(i.Child("tlsSecretName"), r.Ingress.TLSSecretName, subdomain)...)
		errs = append(errs, atMostItems(i.Child("annotations"), len(r.Ingress.Annotations), 32)...)
		errs = append(errs, validateAnnotations(i.Child("annotations"), r.Ingress.Annotations)...)
		errs = append(errs, forbidKeys(i.Child("annotations"), r.Ingress.Annotations)...)
	}
	return errs
}
