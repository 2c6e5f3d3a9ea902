// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

var validateStorage = map[string]validateCase{
	"bucket: bare name": {patch: `spec: {storage: {bucket: 'my-bucket'}}`},
	"bucket: prefix":    {patch: `spec: {storage: {bucket: 's3://my-bucket/a/b_c/d=1'}}`},
	"bucket: dots":      {patch: `spec: {storage: {bucket: 's3://my.bucket'}}`},
	"bucket: trailing slash": {
		patch: `spec: {storage: {bucket: 's3://my-bucket/'}}`,
		want: []string{
			`spec.storage.bucket: Invalid value: "s3://my-bucket/": must not end in '/': remove it`,
		}},
	"bucket: empty segment": {
		patch: `spec: {storage: {bucket: 's3://my-bucket//a'}}`,
		want: []string{
			`spec.storage.bucket: Invalid value: "s3://my-bucket//a": must be s3://NAME[/PREFIX], gs://NAME[/PREFIX], ` +
				`az://CONTAINER[/PREFIX] or a bare S3 name: names in lower case, prefixes without empty segments or leading dots`,
		}},
	"bucket: hidden segment": {
		patch: `spec: {storage: {bucket: 's3://my-bucket/.a'}}`,
		want: []string{
			`spec.storage.bucket: Invalid value: "s3://my-bucket/.a": must be s3://NAME[/PREFIX], gs://NAME[/PREFIX], ` +
				`az://CONTAINER[/PREFIX] or a bare S3 name: names in lower case, prefixes without empty segments or leading dots`,
		}},
	"bucket: upper case": {
		patch: `spec: {storage: {bucket: 's3://My-bucket'}}`,
		want: []string{
			`spec.storage.bucket: Invalid value: "s3://My-bucket": must be s3://NAME[/PREFIX], gs://NAME[/PREFIX], ` +
				`az://CONTAINER[/PREFIX] or a bare S3 name: names in lower case, prefixes without empty segments or leading dots`,
		}},
	"bucket: upper-case scheme": {
		patch: `spec: {storage: {bucket: 'S3://my-bucket'}}`,
		want: []string{
			`spec.storage.bucket: Invalid value: "S3://my-bucket": must start with s3://, gs:// or az://, or be a bare S3 ` +
				`bucket name`,
		}},
	"bucket: another scheme": {
		patch: `spec: {storage: {bucket: 'https://my-bucket'}}`,
		want: []string{
			`spec.storage.bucket: Invalid value: "https://my-bucket": must start with s3://, gs:// or az://, or be a bare S3 ` +
				`bucket name`,
		}},
	"bucket: too short": {
		patch: `spec: {storage: {bucket: 's3://ab'}}`,
		want: []string{
			`spec.storage.bucket: Invalid value: "s3://ab": must be s3://NAME[/PREFIX], gs://NAME[/PREFIX], ` +
				`az://CONTAINER[/PREFIX] or a bare S3 name: names in lower case, prefixes without empty segments or leading dots`,
		}},
	"bucket: none": {
		patch: `spec: {storage: {bucket: ''}}`,
		want: []string{
			"spec.storage.bucket: Required value: the bucket of the fleet, such as s3://my-bucket",
		}},
	"bucket: a space": {
		patch: `spec: {storage: {bucket: 's3://my-bucket/a b'}}`,
		want: []string{
			`spec.storage.bucket: Invalid value: "s3://my-bucket/a b": must be s3://NAME[/PREFIX], gs://NAME[/PREFIX], ` +
				`az://CONTAINER[/PREFIX] or a bare S3 name: names in lower case, prefixes without empty segments or leading dots`,
		}},
	"s3 without region": {
		patch: `spec: {storage: {region: ''}}`,
		want: []string{
			"spec.storage.region: Required value: AWS_REGION of an s3 bucket",
		}},
	"region in upper case": {
		patch: `spec: {storage: {region: US-EAST-1}}`,
		want: []string{
			`spec.storage.region: Invalid value: "US-EAST-1": must be a region, such as us-east-1`,
		}},
	"gs": {patch: `spec: {storage: {bucket: 'gs://my_bucket', region: null}}`},
	"gs with everything of others": {
		patch: `spec: {storage: {bucket: 'gs://my-bucket', azureAccount: mine, endpoint: {url: 'https://minio'}}}`,
		want: []string{
			"spec.storage.region: Forbidden: is for s3 buckets: celld on gs:// and az:// refuses AWS variables; remove it",
			"spec.storage.azureAccount: Forbidden: is for az:// buckets; remove it",
			"spec.storage.endpoint: Forbidden: is for s3 buckets: celld on gs:// and az:// refuses S3_ENDPOINT; remove it",
		}},
	"az": {patch: `spec: {storage: {bucket: 'az://my-container/prefix', region: null, azureAccount: myaccount}}`},
	"az without account": {
		patch: `spec: {storage: {bucket: 'az://my-container', region: null}}`,
		want: []string{
			"spec.storage.azureAccount: Required value: the storage account of an az:// bucket",
		}},
	"az with a bad account": {
		patch: `spec: {storage: {bucket: 'az://my-container', region: null, azureAccount: my-account}}`,
		want: []string{
			`spec.storage.azureAccount: Invalid value: "my-account": must be a storage account: 3 to 24 lower-case letters and ` +
				`digits`,
		}},
	"az with two dashes in a row": {
		patch: `spec: {storage: {bucket: 'az://my--container', region: null, azureAccount: myaccount}}`,
		want: []string{
			`spec.storage.bucket: Invalid value: "az://my--container": must be s3://NAME[/PREFIX], gs://NAME[/PREFIX], ` +
				`az://CONTAINER[/PREFIX] or a bare S3 name: names in lower case, prefixes without empty segments or leading dots`,
		}},
	"endpoint":                 {patch: `spec: {storage: {endpoint: {url: 'http://minio:9000/path', credentialsSecretName: creds}}}`},
	"endpoint by IPv6 address": {patch: `spec: {storage: {endpoint: {url: 'http://[fd00::1]:9000'}}}`},
	"endpoint without URL": {
		patch: `spec: {storage: {endpoint: {credentialsSecretName: creds}}}`,
		want: []string{
			"spec.storage.endpoint.url: Required value: the URL of the store",
		}},
	"endpoint with credentials": {
		patch: `spec: {storage: {endpoint: {url: 'https://me:secret@minio'}}}`,
		want: []string{
			`spec.storage.endpoint.url: Invalid value: "https://***@minio": must be http://HOST[:PORT][/PATH] or https://..., ` +
				`without credentials, query or fragment`,
		}},
	"endpoint with a query": {
		patch: `spec: {storage: {endpoint: {url: 'https://minio?x=1'}}}`,
		want: []string{
			`spec.storage.endpoint.url: Invalid value: "https://minio?***": must be http://HOST[:PORT][/PATH] or https://..., ` +
				`without credentials, query or fragment`,
		}},
	"endpoint with port 65536": {
		patch: `spec: {storage: {endpoint: {url: 'https://minio:65536', credentialsSecretName: Creds}}}`,
		want: []string{
			`spec.storage.endpoint.url: Invalid value: "https://minio:65536": must be http://HOST[:PORT][/PATH] or ` +
				`https://..., without credentials, query or fragment`,
			`spec.storage.endpoint.credentialsSecretName: Invalid value: "Creds": must be a DNS name: lower-case letters, ` +
				`digits, '-' and '.', at most 253 characters`,
		}},
	"size zero": {
		patch: `spec: {storage: {size: 0}}`,
		want: []string{
			`spec.storage.size: Invalid value: "0": must be whole bytes, from 1Gi to 64Ti`,
		}},
	"size negative": {
		patch: `spec: {storage: {size: -1Gi}}`,
		want: []string{
			`spec.storage.size: Invalid value: "-1Gi": must be whole bytes, from 1Gi to 64Ti`,
		}},
	"size too small": {
		patch: `spec: {storage: {size: 1023Mi}}`,
		want: []string{
			`spec.storage.size: Invalid value: "1023Mi": must be whole bytes, from 1Gi to 64Ti`,
		}},
	"size too large": {
		patch: `spec: {storage: {size: 65Ti}}`,
		want: []string{
			`spec.storage.size: Invalid value: "65Ti": must be whole bytes, from 1Gi to 64Ti`,
		}},
	"size in thousandths": {
		patch: `spec: {storage: {size: 10m}}`,
		want: []string{
			`spec.storage.size: Invalid value: "10m": must be whole bytes, from 1Gi to 64Ti`,
		}},
	"size with a tenth of a byte": {
		patch: `spec: {storage: {size: 1.0000000001Gi}}`,
		want: []string{
			`spec.storage.size: Invalid value: "1073741824107374183n": must be whole bytes, from 1Gi to 64Ti`,
		}},
	"size at its bounds":     {patch: `spec: {storage: {size: 1024Mi}}`},
	"size of 64Ti":           {patch: `spec: {storage: {size: 64Ti}}`},
	"size of one and a half": {patch: `spec: {storage: {size: 1.5Gi}}`},
	"size in any spelling":   {patch: `spec: {storage: {size: 1e10}}`},
	"no class": {
		kind:  v1alpha1.KindPersistentFleet,
		patch: `spec: {storage: {storageClassName: ''}}`,
		want: []string{
			"spec.storage.storageClassName: Required value: the StorageClass of the members' disks",
		}},
	"class that is no name": {
		kind:  v1alpha1.KindPersistentFleet,
		patch: `spec: {storage: {storageClassName: EBS}}`,
		want: []string{
			`spec.storage.storageClassName: Invalid value: "EBS": must be a DNS name: lower-case letters, digits, '-' and '.', ` +
				`at most 253 characters`,
		}},
}

var validateTelemetry = map[string]validateCase{
	"everything": {
		patch: `spec: {telemetry: {collectorURL: 'http://otel:4318', egress: {podLabels: {app: otel}, namespace: otel}, sampler: ` +
			`traceidratio, samplerArg: '0.25', flushMilliseconds: 3600000, flushBytes: 1073741824, headersSecretKeyRef: {name: ` +
			`s, key: k}}}`},
	"by IPv6 address": {patch: `spec: {telemetry: {collectorURL: 'https://otel', egress: {cidr: 'fd00::1/128'}}}`},
	"out of range": {
		patch: `spec: {telemetry: {collectorURL: 'http://otel:4318', egress: {podLabels: {app: otel}, namespace: otel}, sampler: ` +
			`always, samplerArg: '1.5', flushMilliseconds: 0, flushBytes: -1, headersSecretKeyRef: {name: '', key: ''}}}`,
		want: []string{
			`spec.telemetry.sampler: Unsupported value: "always": supported values: "always_on", "always_off", "traceidratio", ` +
				`"parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio"`,
			`spec.telemetry.samplerArg: Invalid value: "1.5": must be a number from 0 to 1, such as 0.1`,
			"spec.telemetry.flushMilliseconds: Invalid value: 0: must be from 1 to 3600000",
			"spec.telemetry.flushBytes: Invalid value: -1: must be from 1 to 1073741824",
			"spec.telemetry.headersSecretKeyRef.name: Required value: the name of a Secret",
			"spec.telemetry.headersSecretKeyRef.key: Required value: a key of the Secret",
		}},
	"argument without sampler": {
		patch: `spec: {telemetry: {collectorURL: 'http://otel:4318', egress: {podLabels: {app: otel}, namespace: otel}, ` +
			`samplerArg: '0.1'}}`,
		want: []string{
			"spec.telemetry.sampler: Required value: the sampler that samplerArg is for",
		}},
	"no collector": {
		patch: `spec: {telemetry: {sampler: always_on}}`,
		want: []string{
			"spec.telemetry.collectorURL: Required value: the collector to export to, since other telemetry fields are set",
			"spec.telemetry.egress: Required value: where the collector is, so that the NetworkPolicy admits it: cidr or podLabels",
		}},
	"no egress": {
		patch: `spec: {telemetry: {collectorURL: 'ftp://otel'}}`,
		want: []string{
			`spec.telemetry.collectorURL: Invalid value: "ftp://otel": must be http://HOST[:PORT][/PATH] or https://..., ` +
				`without credentials, query or fragment`,
			"spec.telemetry.egress: Required value: where the collector is, so that the NetworkPolicy admits it: cidr or podLabels",
		}},
	"collector nowhere": {
		patch: `spec: {telemetry: {collectorURL: 'http://otel', egress: {}}}`,
		want: []string{
			`spec.telemetry.egress: Required value: exactly one of cidr and podLabels`,
		}},
	"collector at two places": {
		patch: `spec: {telemetry: {collectorURL: 'http://otel', egress: {cidr: 10.0.0.1/32, podLabels: {app: otel}}}}`,
		want: []string{
			`spec.telemetry.egress: Forbidden: cidr and podLabels exclude each other: keep one of them`,
		}},
	"collector in a range": {
		patch: `spec: {telemetry: {collectorURL: 'http://otel', egress: {cidr: 10.0.0.0/24}}}`,
		want: []string{
			`spec.telemetry.egress.cidr: Invalid value: "10.0.0.0/24": must be one address, as a.b.c.d/32 or an IPv6 address ` +
				`with /128`,
		}},
	"collector at a mapped address": {
		patch: `spec: {telemetry: {collectorURL: 'http://otel', egress: {cidr: '::ffff:10.0.0.1/128'}}}`,
		want: []string{
			`spec.telemetry.egress.cidr: Invalid value: "::ffff:10.0.0.1/128": must be one address, as a.b.c.d/32 or an IPv6 ` +
				`address with /128`,
		}},
	"collector at an address in a namespace": {
		patch: `spec: {telemetry: {collectorURL: 'http://otel', egress: {cidr: 10.0.0.1/32, namespace: otel}}}`,
		want: []string{
			"spec.telemetry.egress.namespace: Forbidden: must not be set without podLabels",
		}},
	"collector at any Pod": {
		patch: `spec: {telemetry: {collectorURL: 'http://otel', egress: {podLabels: {}}}}`,
		want: []string{
			"spec.telemetry.egress.podLabels: Required value: at least one label: none would select every Pod",
		}},
	"collector at Pods with a bad label": {
		patch: `spec: {telemetry: {collectorURL: 'http://otel', egress: {podLabels: {app: 'a b'}, namespace: Otel}}}`,
		want: []string{
			`spec.telemetry.egress.podLabels[app]: Invalid value: "a b": a valid label must be an empty string or consist of ` +
				`alphanumeric...`,
			`spec.telemetry.egress.namespace: Invalid value: "Otel": must be a DNS label: lower-case letters, digits and '-', ` +
				`at most 63 characters`,
		}},
}

var validateRouting = map[string]validateCase{
	"as many hostnames as allowed": {
		patch: `spec: {routing: {hostnames: [` + many(16, "h%d") + `], source: ` + source + `, gateway: {name: gw}}}`},
	"too many labels and annotations": {
		patch: `spec: {routing: {hostnames: [a], source: {namespace: gateways, podLabels: {` + many(17, "k%d: v") +
			`}}, ingress: {className: c, annotations: {` + many(33, "k%d: v") + `}}}}`,
		want: []string{
			"spec.routing.source.podLabels: Too many: 17: must have at most 16 items",
			"spec.routing.ingress.annotations: Too many: 33: must have at most 32 items",
		}},
	"by Gateway": {
		patch: `spec: {routing: {hostnames: [a.example, '*.b.example'], source: ` + source + `, gateway: {name: gw, namespace: ` +
			`gateways, sectionName: https}}}`},
	"by Ingress": {
		patch: `spec: {routing: {hostnames: [a.example], source: ` + source + `, ingress: {className: nginx, tlsSecretName: tls, ` +
			`annotations: {nginx.ingress.kubernetes.io/proxy-body-size: 1g}}}}`},
	"no hostnames is none": {patch: `spec: {routing: {hostnames: []}}`},
	"only hostnames": {
		patch: `spec: {routing: {hostnames: [a.example]}}`,
		want: []string{
			"spec.routing.source: Required value: the data-plane Pods that may reach port 8080",
			`spec.routing: Required value: exactly one of gateway and ingress`,
		}},
	"only a Gateway": {
		patch: `spec: {routing: {gateway: {name: ''}}}`,
		want: []string{
			"spec.routing.hostnames: Required value: 1 to 16 names that the fleet answers to",
			"spec.routing.source: Required value: the data-plane Pods that may reach port 8080",
			"spec.routing.gateway.name: Required value: the name of the Gateway",
		}},
	"hostnames wrong": {
		patch: `spec: {routing: {hostnames: ['', A.example, 'https://a', 'a:80', '*', a.example, a.example], source: ` + source + `, ` +
			`gateway: {name: gw}}}`,
		want: []string{
			`spec.routing.hostnames[0]: Invalid value: "": must be a host name in lower case, without scheme, port or path; ` +
				`its first label may be '*'`,
			`spec.routing.hostnames[1]: Invalid value: "A.example": must be a host name in lower case, without scheme, port or ` +
				`path; its first label may be '*'`,
			`spec.routing.hostnames[2]: Invalid value: "https://a": must be a host name in lower case, without scheme, port or ` +
				`path; its first label may be '*'`,
			`spec.routing.hostnames[3]: Invalid value: "a:80": must be a host name in lower case, without scheme, port or ` +
				`path; its first label may be '*'`,
			`spec.routing.hostnames[4]: Invalid value: "*": must be a host name in lower case, without scheme, port or path; ` +
				`its first label may be '*'`,
			`spec.routing.hostnames[6]: Duplicate value: "a.example"`,
		}},
	"too many hostnames": {
		patch: `spec: {routing: {hostnames: [` + many(17, "h%d") + `], source: ` + source + `, gateway: {name: gw}}}`,
		want: []string{
			"spec.routing.hostnames: Too many: 17: must have at most 16 items",
		}},
	"source wrong": {
		patch: `spec: {routing: {hostnames: [a.example], source: {namespace: '', podLabels: {}}, gateway: {name: gw}}}`,
		want: []string{
			"spec.routing.source.namespace: Required value: the namespace of the data-plane Pods",
			"spec.routing.source.podLabels: Required value: at least one label: none would select every Pod",
		}},
	"Gateway and Ingress": {
		patch: `spec: {routing: {hostnames: [a.example], source: ` + source + `, gateway: {name: Gw, namespace: a.b, sectionName: ` +
			`A}, ingress: {className: '', tlsSecretName: A, annotations: {celld.eric.dev/seal: x, a/b/c: x}}}}`,
		want: []string{
			`spec.routing: Forbidden: gateway and ingress exclude each other: keep one of them`,
			`spec.routing.gateway.name: Invalid value: "Gw": must be a DNS name: lower-case letters, digits, '-' and '.', at ` +
				`most 253 characters`,
			`spec.routing.gateway.namespace: Invalid value: "a.b": must be a DNS label: lower-case letters, digits and '-', at ` +
				`most 63 characters`,
			`spec.routing.gateway.sectionName: Invalid value: "A": must be a DNS name: lower-case letters, digits, '-' and ` +
				`'.', at most 253 characters`,
			"spec.routing.ingress.className: Required value: the IngressClass",
			`spec.routing.ingress.tlsSecretName: Invalid value: "A": must be a DNS name: lower-case letters, digits, '-' and ` +
				`'.', at most 253 characters`,
			`spec.routing.ingress.annotations[a/b/c]: Invalid value: "a/b/c": a valid label key must consist of alphanumeric...`,
			"spec.routing.ingress.annotations[celld.eric.dev/seal]: Forbidden: is set by Fleetwright itself: use another key",
		}},
}
