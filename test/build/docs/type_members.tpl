{{- define "type_members" -}}
{{- if eq .Name "metadata" -}}
Standard object metadata.
{{- else -}}
{{ .Doc | replace "\n" " " | replace "<" "&lt;" | markdownRenderFieldDoc }}
{{- end -}}
{{- end -}}
