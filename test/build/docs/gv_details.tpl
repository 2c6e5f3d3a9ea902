{{- define "gvDetails" -}}
{{- $gv := . -}}
Group and version: `{{ $gv.GroupVersionString }}`. Fields marked with * are required.

Kinds:
{{- range $gv.SortedKinds }}
- {{ $gv.TypeForKind . | markdownRenderTypeLink }}
{{- end }}
{{ range $gv.SortedKinds }}{{ template "type" ($gv.TypeForKind .) }}{{ end }}
{{- range $gv.SortedTypes }}{{ if not (or .GVK (has .Name (list "FleetSpec" "ObjectStore"))) }}{{ template "type" . }}{{ end }}{{ end }}
{{- end -}}
