{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}

{{- /* Labels of an object of a program: include "fleetwright.labels" (list . "healer"). Names are fixed: there is one of each
in a cluster, and rendered policies and the webhook know them. No instance label: some sync tools overwrite it. */ -}}
{{- define "fleetwright.labels" -}}
app.kubernetes.io/name: fleetwright-{{ index . 1 }}
app.kubernetes.io/part-of: fleetwright
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
{{- end }}

{{- define "fleetwright.selector" -}}
app.kubernetes.io/name: fleetwright-{{ index . 1 }}
{{- end }}

{{- define "fleetwright.image" -}}
{{- $i := .Values.image -}}
{{- $tag := $i.tag -}}
{{- if and (not $tag) (not $i.digest) }}{{ $tag = printf "v%s" .Chart.AppVersion }}{{ end -}}
{{ $i.repository }}{{ with $tag }}:{{ . }}{{ end }}{{ with $i.digest }}@{{ . }}{{ end }}
{{- end }}

{{- /* What Pods of both programs have in common, at the level of the Pod's spec. */ -}}
{{- define "fleetwright.pod" -}}
{{- $ := index . 0 -}}
{{- $name := index . 1 -}}
{{- $values := index $.Values $name -}}
serviceAccountName: fleetwright-{{ $name }}
{{- with $.Values.imagePullSecrets }}
imagePullSecrets:
{{- toYaml . | nindent 0 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
{{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
{{- toYaml . | nindent 0 }}
{{- end }}
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
    - weight: 100
      podAffinityTerm:
        topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels:
            {{- include "fleetwright.selector" . | nindent 12 }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{- /* What their containers have in common. */ -}}
{{- define "fleetwright.container" -}}
{{- $ := index . 0 -}}
{{- $name := index . 1 -}}
name: {{ $name }}
image: {{ include "fleetwright.image" $ | quote }}
imagePullPolicy: {{ $.Values.image.pullPolicy }}
command: [/fleetwright-{{ $name }}]
livenessProbe:
  httpGet: {path: /healthz, port: probes}
  initialDelaySeconds: 10
  periodSeconds: 10
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: probes}
  periodSeconds: 5
  timeoutSeconds: 2
resources:
  {{- toYaml (index $.Values $name).resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{- /* The object of a kind in a file of several. */ -}}
{{- define "fleetwright.document" -}}
{{- $kind := index . 1 -}}
{{- range regexSplit "(?m)^---$" (index . 0) -1 }}
{{- $object := fromYaml . }}
{{- if eq (get $object "kind") $kind }}
{{- toYaml $object }}
{{- end }}
{{- end }}
{{- end }}
