{{- define "gvList" -}}
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Generated from api/v1alpha1 by `make generate`. Change the comments there instead. -->

# API reference
{{ range . }}
{{ template "gvDetails" . }}
{{- end }}
{{- end -}}
