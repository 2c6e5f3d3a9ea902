{{- define "type" -}}
{{- $type := . -}}
{{- if markdownShouldRenderType $type }}
## {{ $type.Name }}

{{ $type.Doc | replace "\n\n" "<p>" | replace "\n" " " | replace "<p>" "\n\n" }}
{{ if $type.References }}
Appears in:
{{- range $type.SortedReferences }}{{ if not (has .Name (list "FleetSpec" "ObjectStore")) }}
- {{ markdownRenderTypeLink . }}
{{- end }}{{ end }}
{{ end -}}
{{ if $type.Members }}
| Field | Type | Description |
| --- | --- | --- |
{{ if $type.GVK -}}
| `apiVersion`* | string | `{{ $type.GVK.Group }}/{{ $type.GVK.Version }}` |
| `kind`* | string | `{{ $type.GVK.Kind }}` |
{{ end -}}
{{ range $type.Members -}}
| `{{ .Name }}`{{ if has "Required: {}" .Validation }}*{{ end }} | {{ markdownRenderType .Type | replace "object (keys:string, values:string)" "object of strings" }} | {{ template "type_members" . }} |
{{ end -}}
{{ end -}}
{{ if $type.EnumValues }}
Values: {{ range $i, $v := $type.EnumValues }}{{ if $i }}, {{ end }}`{{ $v.Name }}`{{ end }}.
{{ end -}}
{{ end -}}
{{- end -}}
