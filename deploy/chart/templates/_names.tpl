{{/* Templates take a dict with `root`, the chart's own context, and `component`, the name of a part of the product. */}}

{{- define "brand-data.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* The beginning of the names of objects. It leaves room for a suffix and for what Kubernetes adds to a pod's name. */}}
{{- define "brand-data.fullname" -}}
{{- $name := include "brand-data.name" . -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $full .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "brand-data.component.fullname" -}}
{{ include "brand-data.fullname" .root }}-{{ .component }}
{{- end -}}

{{/* Labels that select all objects of the release, of every component. */}}
{{- define "brand-data.release.selector" -}}
app.kubernetes.io/name: {{ include "brand-data.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "brand-data.selector" -}}
{{ include "brand-data.release.selector" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "brand-data.labels" -}}
{{ include "brand-data.selector" . }}
app.kubernetes.io/part-of: brand-data-service
app.kubernetes.io/version: {{ .root.Values.image.tag | default .root.Chart.AppVersion | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* `name` replaces the component in the object's name, for a component with several objects of one kind. */}}
{{- define "brand-data.metadata" -}}
name: {{ include "brand-data.fullname" .root }}-{{ default .component .name }}
namespace: {{ .root.Release.Namespace }}
labels: {{- include "brand-data.labels" . | nindent 2 }}
{{- end -}}

{{- define "brand-data.image" -}}
{{- with .root.Values.image -}}
{{- $default := printf "%s/%s:%s" .repository $.component (default $.root.Chart.AppVersion .tag) -}}
{{- default $default (index $.root.Values $.component).image -}}
{{- end -}}
{{- end -}}

{{/* Names of the Secrets that the chart creates or that the values name. */}}
{{- define "brand-data.connections.secret" -}}{{ include "brand-data.fullname" . }}-connections{{- end -}}
{{- define "brand-data.operator.secret" -}}
{{- default (printf "%s-operator" (include "brand-data.fullname" .)) .Values.operator.existingSecret -}}
{{- end -}}
