// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"math"
	"strings"
)

// validParts are merge patches that keep a valid fleet valid, alone and together.
var validParts = []string{
	`metadata: {labels: {team: cells, example.com/tier: "1"}, annotations: {example.com/Note: "any text: ü"}}`,
	`spec: {storage: {bucket: "gs://my-bucket/prefix", region: null, endpoint: null, store: null, azureAccount: null}}`,
	`spec: {storage: {bucket: "az://my-container", region: null, endpoint: null, store: null, azureAccount: myaccount}}`,
	`spec: {storage: {bucket: my-bucket, region: eu-west-1, azureAccount: null, endpoint: {url: "https://minio:9000", credentialsSecretName: creds}}}`,
	`spec: {storage: {bucket: my-bucket, region: eu-west-1, azureAccount: null, endpoint: {url: "https://minio:9000"}, store: minio-a}}`,
	`spec: {storage: {size: 20Gi}}`,
	`spec: {imagePullSecrets: [{name: pull}, {name: other}]}`,
	`spec: {placement: {zones: [a], mode: Relaxed, nodeSelector: {disk: ssd}, priorityClassName: high}}`,
	`spec: {placement: {zones: [a, b, c], mode: Strict, maxPerZone: 1}}`,
	`spec: {placement: {tolerations: [{key: a, operator: Exists}, {operator: Exists, effect: NoExecute, tolerationSeconds: 5}]}}`,
	`spec: {resources: {requests: {cpu: 100m}, limits: {memory: 256Mi, example.com/card: 1}}}`,
	`spec: {resources: {requests: {memory: 4Gi, cpu: "2"}, limits: {cpu: 2, memory: null}}}`,
	`spec: {cells: {maxResident: 1000, idleEvictSeconds: 300}, lifecycle: {shutdownSeconds: 60}}`,
	`spec: {lifecycle: {shutdownSeconds: null, terminationGraceSeconds: 6}}`,
	`spec: {env: [{name: CELLD_LOG, value: debug}, {name: CELLD_KEY, secretKeyRef: {name: s, key: k}}]}`,
	`spec: {podMetadata: {labels: {team: cells}, annotations: {example.com/note: text}}}`,
	`spec: {telemetry: {collectorURL: "http://otel:4318", egress: {podLabels: {app: otel}, namespace: otel}, sampler: traceidratio, samplerArg: "0.5"}}`,
	`spec: {telemetry: {collectorURL: "https://otel", egress: {cidr: fd00::1/128, podLabels: null, namespace: null}, flushBytes: 1024}}`,
	`spec: {network: {credentials: None, dns: {namespace: dns, podLabels: {app: coredns}}}}`,
	`spec: {network: {extraEgress: [{ports: [{port: 443, protocol: TCP, endPort: 444}], to: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}]}]}}`,
	`spec: {maintenance: {paused: true, stopped: true, restartToken: "again, ü"}, capacity: {mode: Manual}}`,
	`spec: {routing: {hostnames: [a.example, "*.b.example"], source: ` + source + `, gateway: {name: gw, sectionName: https}, ingress: null}}`,
	`spec: {routing: {hostnames: [a.example], source: ` + source + `, ingress: {className: nginx, tlsSecretName: tls}, gateway: null}}`,
	`spec: {identity: 8f14e45f-ceea-467f-a9d5-0c2a1f5b7e11}`,
}

func long(n int) string { return strings.Repeat("a", n) }

var anyStrings = []string{"", "a", "a-b", "a.b", "A", "a_b", "-a", "a-", "a..b", "a b", "ü", "1", "0", "10Gi", "a/b", "true", "\n", "$(X)",
	long(40), long(41), long(63), long(64), long(128), long(129), long(253), long(254), strings.Repeat("ü", 128), strings.Repeat("ü", 129)}

var stringPools = []stringPool{
	pool(`^metadata.name$`, "a", "my-fleet", "my-fleet-peers", "x-routing", "0x", "peers", "-peers", long(40), long(41), long(34)+"-peers"),
	pool(`bucket$`, "s3://my-bucket", "my-bucket", "s3://my-bucket/a/b", "s3://my-bucket/", "gs://my-bucket", "gs://my_bucket.x/p",
		"az://my-container", "az://my--container", "az://x", "S3://my-bucket", "http://my-bucket", "s3://", "s3://my-bucket//x", "s3://other-bucket",
		"s3://"+long(63), "s3://"+long(64), "s3://my-bucket/"+long(497), "s3://my-bucket/"+long(498), "s3://my-bucket/.hidden", "://x", "x://y", "gs://a"),
	pool(`region$`, "us-east-1", "eu-west-1", "US", "us_east"),
	pool(`store$`, "minio-a", "minio.a", "Minio", long(63), long(64)),
	pool(`azureAccount$`, "abc", "myaccount", "my-account", "ab", long(24), long(25)),
	pool(`(url|URL)$`, "http://h", "https://h:9000", "https://h:0", "https://h:65535", "https://h:65536", "https://u@h", "https://h?q=1", "https://h/#f",
		"https://[::1]:80/p", "h:80", "ftp://h", "https://", "https://-h", "https://h/p q", "https://"+long(504), "https://"+long(505)),
	pool(`runtimeImage$`, "celld@"+digest, "r.example:5000/a/b:v1@"+digest, "celld:v1", "celld", "CELLD@"+digest, "x/CELLD@"+digest,
		"celld@sha256:00", "celld@sha512:"+long(128), "a/"+long(438)+"@"+digest, "a/"+long(439)+"@"+digest),
	pool(`zones\[\]$`, "a", "us-east-1a", "A_b.c", "-a"),
	pool(`env\[\].name$`, "CELLD_X", "CELLD_LOG", "CELLD_NODE", "CELLD_ADVERTISE", "CELLD_BUCKET", "CELLD_DURABILITY", "CELLD_ADDR",
		"CELLD_INTERNAL_ADDR", "CELLD_WATCH", "CELLD_TTL_MS", "CELLD_SHUTDOWN_TOTAL_MS", "CELLD_TOKIO_THREADS", "CELLD_MAX_RESIDENT_CELLS",
		"CELLD_IDLE_EVICT_S", "CELLD_REEXEC_X", "CELLD_OTELX", "CELLD_OTE", "CELLD_UNSAFE_X", "CELLD_TEST_X", "CELLD_TEST", "CELLD_STRICT_X",
		"CELLD_EXPORT", "CELLD_VAR_X", "CELLD_SHUTDOWN_DRAIN_MS", "CELLD_DRAIN_TOKEN_WAIT_MS", "CELLD_", "celld_x", "PATH", "CELLD_"+strings.Repeat("X", 122),
		"CELLD_"+strings.Repeat("X", 123)),
	pool(`env\[\].value$`, "x", long(4096), long(4097), strings.Repeat("ü", 4096)),
	pool(`identity$`, "8f14e45f-ceea-467f-a9d5-0c2a1f5b7e11", "00000000-0000-0000-0000-000000000000", "8F14E45F-CEEA-467F-A9D5-0C2A1F5B7E11", "x"),
	pool(`(cidr|except\[\])$`, "10.0.0.1/32", "10.0.0.0/8", "10.1.0.0/16", "10.0.0.1", "fd00::1/128", "fd00::/64", "::ffff:10.0.0.1/128",
		"fe80::1%eth0/128", "010.0.0.1/32", "10.0.0.1/032", "0.0.0.0/0", "FD00::1/128", "10.0.0.1/33"),
	pool(`samplerArg$`, "0", "1", "0.5", "1.0", "1.1", "-1", "1e-1", ".5", "0."+strings.Repeat("1", 62), "0."+strings.Repeat("1", 63)),
	pool(`hostnames\[\]$`, "a.example", "*.a.example", "*", "*.*.a", "A.example", "a.example.", "https://a", "a:80"),
	pool(`(operator|effect|protocol)$`, "Exists", "Equal", "In", "NotIn", "DoesNotExist", "Gt", "NoSchedule", "NoExecute", "PreferNoSchedule",
		"TCP", "UDP", "SCTP", "tcp"),
}

var mapKeys = []string{"", "a", "app", "example.com/a", "celld.eric.dev/x", "celld.eric.dev", "celld.eric.dev/fleet-uid", "app.kubernetes.io/name",
	"app.kubernetes.io/managed-by", "kubectl.kubernetes.io/default-container", "a/b/c", "A/b", "Example.com/a", "-a", "ü", "topology.kubernetes.io/zone", long(63), long(64)}

var resourceNames = []string{"cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "example.com/card", "storage", "cards", "", "a/b/c"}

var quantities = []any{"1", "0", "10Gi", "1Gi", "512Mi", "250m", "1.5", "-1", "+1", "1e3", "1E3", "1e1.5", "1u", "1n", "0.5n", "1e-12", "", "x",
	"1Ki", "1ki", "100000000000000000000", "1e400", ".5", "5.", "10737418240", "0Gi", "http", "a-b", "http-port-name-too-long"}

var numbers = []int64{0, 1, 2, 3, 5, 6, 7, 20, 100, 65535, 65536, -1, math.MaxInt32, math.MinInt32, math.MaxInt32 - 4, math.MaxInt32 + 1}
