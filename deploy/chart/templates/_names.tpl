{{- define "deckhand.name" -}}
{{- if contains "deckhand" .Release.Name -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-deckhand" .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{- define "deckhand.selector" -}}
app.kubernetes.io/name: deckhand
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "deckhand.labels" -}}
{{ include "deckhand.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "deckhand.image" -}}
{{- $repository := required "image.repository is required: push the image of the Dockerfile to a registry, and name it" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{ printf "%s@%s" $repository .Values.image.digest }}
{{- else -}}
{{ printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end -}}
{{- end -}}
