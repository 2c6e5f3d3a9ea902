// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

const (
	// leaseMillis is CELLD_TTL_MS: how long a node's lease lives without renewal.
	leaseMillis = "10000"
	// tokioThreads is CELLD_TOKIO_THREADS: worker threads of celld's runtime.
	tokioThreads = "2"
)

// env lists the container's variables. Their order is part of the Pod template's bytes: append within a group only.
func (b *builder) env() []corev1.EnvVar {
	node, advertise := "metadata.name", fmt.Sprintf("$(%s).%s.%s.svc:%d",
		v1alpha1.EnvNode, PeerServiceName(b.name), b.ns, v1alpha1.PeerPort)
	durability := "fleet"
	if b.fleet.Kind() == v1alpha1.KindBucketFleet {
		node, advertise = "metadata.uid", fmt.Sprintf("$(%s):%d", v1alpha1.EnvPodIP, v1alpha1.PeerPort)
		durability = "bucket"
	}
	env := []corev1.EnvVar{
		fromField(v1alpha1.EnvPodIP, "status.podIP"),
		fromField(v1alpha1.EnvNode, node),
		{Name: v1alpha1.EnvAdvertise, Value: advertise},
		{Name: v1alpha1.EnvBucket, Value: b.bucket.String()},
	}
	if b.bucket.Scheme == v1alpha1.SchemeS3 {
		env = append(env, corev1.EnvVar{Name: v1alpha1.EnvAWSRegion, Value: b.store.Region})
	}
	env = append(env,
		corev1.EnvVar{Name: v1alpha1.EnvDurability, Value: durability},
		corev1.EnvVar{Name: v1alpha1.EnvAddr, Value: fmt.Sprintf("0.0.0.0:%d", v1alpha1.ApplicationPort)},
		corev1.EnvVar{Name: v1alpha1.EnvInternalAddr, Value: fmt.Sprintf("0.0.0.0:%d", v1alpha1.PeerPort)},
		corev1.EnvVar{Name: v1alpha1.EnvWatch, Value: v1alpha1.DataPath},
		corev1.EnvVar{Name: v1alpha1.EnvTTL, Value: leaseMillis},
		corev1.EnvVar{Name: v1alpha1.EnvShutdownTotal, Value: strconv.Itoa(int(*b.spec.Lifecycle.ShutdownSeconds) * 1000)},
		corev1.EnvVar{Name: v1alpha1.EnvTokioThreads, Value: tokioThreads},
	)
	env = appendNumber(env, v1alpha1.EnvMaxResidentCells, b.spec.Cells.MaxResident)
	env = appendNumber(env, v1alpha1.EnvIdleEvict, b.spec.Cells.IdleEvictSeconds)
	env = append(env, b.storeEnv()...)
	for _, e := range b.spec.Env {
		if e.SecretKeyRef != nil {
			env = append(env, fromSecret(e.Name, e.SecretKeyRef.Name, e.SecretKeyRef.Key))
		} else {
			env = append(env, corev1.EnvVar{Name: e.Name, Value: e.Value})
		}
	}
	return append(env, b.telemetryEnv()...)
}

// storeEnv never sets S3_ENDPOINT or AWS_* for gs:// and az://, which refuse them; Validate keeps those fields empty.
func (b *builder) storeEnv() []corev1.EnvVar {
	var env []corev1.EnvVar
	if e := b.store.Endpoint; e.URL != "" {
		env = append(env, corev1.EnvVar{Name: v1alpha1.EnvS3Endpoint, Value: e.URL})
		if strings.HasPrefix(e.URL, "http://") {
			env = append(env, corev1.EnvVar{Name: v1alpha1.EnvAWSAllowHTTP, Value: "true"})
		}
		if secret := e.CredentialsSecretName; secret != "" {
			env = append(env,
				fromSecret(v1alpha1.EnvAWSAccessKeyID, secret, v1alpha1.SecretKeyAccessKeyID),
				fromSecret(v1alpha1.EnvAWSSecretKey, secret, v1alpha1.SecretKeySecretAccessKey))
		}
	}
	if account := b.store.AzureAccount; account != "" {
		env = append(env, corev1.EnvVar{Name: v1alpha1.EnvAzureAccount, Value: account})
	}
	return env
}

func (b *builder) telemetryEnv() []corev1.EnvVar {
	t := &b.spec.Telemetry
	if !t.Enabled() {
		return nil
	}
	env := []corev1.EnvVar{
		{Name: v1alpha1.EnvOTEL, Value: t.CollectorURL},
		fromField(v1alpha1.EnvPodName, "metadata.name"),
		{Name: v1alpha1.EnvOTELAttributes, Value: fmt.Sprintf("k8s.namespace.name=%s,k8s.pod.name=$(%s),celld.fleet.name=%s",
			b.ns, v1alpha1.EnvPodName, b.name)},
	}
	if t.Sampler != "" {
		env = append(env, corev1.EnvVar{Name: v1alpha1.EnvOTELSampler, Value: t.Sampler})
	}
	if t.SamplerArg != "" {
		env = append(env, corev1.EnvVar{Name: v1alpha1.EnvOTELSamplerArg, Value: t.SamplerArg})
	}
	env = appendNumber(env, v1alpha1.EnvOTELFlush, t.FlushMilliseconds)
	env = appendNumber(env, v1alpha1.EnvOTELFlushBytes, t.FlushBytes)
	if ref := t.HeadersSecretKeyRef; ref != nil {
		env = append(env, fromSecret(v1alpha1.EnvOTELHeaders, ref.Name, ref.Key))
	}
	return env
}

func appendNumber(env []corev1.EnvVar, name string, value *int32) []corev1.EnvVar {
	if value == nil {
		return env
	}
	return append(env, corev1.EnvVar{Name: name, Value: strconv.Itoa(int(*value))})
}

func fromField(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path},
	}}
}

func fromSecret(name, secret, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: key,
	}}}
}
