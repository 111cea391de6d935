{{- define "portico.name" -}}
{{- if contains "portico" .Release.Name -}}
{{- .Release.Name | trunc 53 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-portico" .Release.Name | trunc 53 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "portico.selector" -}}
app.kubernetes.io/name: portico
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "portico.labels" -}}
{{ include "portico.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "portico.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "portico.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (ternary (include "portico.name" .) "default" .Values.serviceAccount.create) -}}
{{- end -}}

{{- define "portico.secret" -}}
{{- if .Values.secret.values }}{{ include "portico.name" . }}{{ end -}}
{{- end -}}

{{- define "portico.policy" -}}
{{- if and .Values.policy.document .Values.policy.existing }}{{ fail "policy.document and policy.existing exclude each other" }}{{ end -}}
{{- if .Values.policy.document }}{{ include "portico.name" . }}-policy{{ else }}{{ .Values.policy.existing }}{{ end -}}
{{- end -}}

{{- define "portico.hasMetrics" -}}
{{- if or .Values.metrics.enabled .Values.autoscaling.enabled }}true{{ end -}}
{{- end -}}
