{{/* The URLs from the values or of the quickstart's servers, as a Secret's data. It leaves out URLs that are in an existing Secret. */}}
{{- define "brand-data.connections" -}}
{{- $full := include "brand-data.fullname" . -}}
{{- if .Values.quickstart.enabled -}}
MONGODB_URL: {{ printf "mongodb://%s-mongodb-0.%s-mongodb:27017/?replicaSet=brand-data" $full $full | quote }}
NATS_URL: {{ printf "nats://%s-nats:4222" $full | quote }}
{{- else -}}
{{- if not .Values.mongodb.existingSecret -}}
MONGODB_URL: {{ .Values.mongodb.url | quote }}
{{ end -}}
{{- if not .Values.nats.existingSecret -}}
NATS_URL: {{ .Values.nats.url | quote }}
{{- end }}
{{- end -}}
{{- end -}}

{{/*
`connections`: the name of the Secret with the URLs that are given as values. A service without a key in the existing Secret uses
the key of catalog.
*/}}
{{- define "brand-data.env.mongodb" -}}
{{- $given := and .root.Values.mongodb.existingSecret (not .root.Values.quickstart.enabled) -}}
{{- $keys := .root.Values.mongodb.secretKeys -}}
- name: MONGODB_URL
  valueFrom:
    secretKeyRef:
      name: {{ ternary .root.Values.mongodb.existingSecret .connections (not (empty $given)) | quote }}
      key: {{ ternary (index $keys .component | default $keys.catalog) "MONGODB_URL" (not (empty $given)) | quote }}
{{- end -}}

{{- define "brand-data.env.nats" -}}
{{- $given := and .root.Values.nats.existingSecret (not .root.Values.quickstart.enabled) -}}
- name: NATS_URL
  valueFrom:
    secretKeyRef:
      name: {{ ternary .root.Values.nats.existingSecret .connections (not (empty $given)) | quote }}
      key: {{ ternary .root.Values.nats.secretKey "NATS_URL" (not (empty $given)) | quote }}
{{- end -}}

{{/* An environment variable from the operator's Secret. `name` is the key in that Secret. */}}
{{- define "brand-data.env.secret" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ include "brand-data.operator.secret" .root | quote }}
      key: {{ .name }}
{{- end -}}

{{/*
An environment variable with a key of operators' passes. It is optional, because without it services still accept the operator token.
`name` is the key in the Secret.
*/}}
{{- define "brand-data.env.pass" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ .root.Values.operator.existingSecret | default (printf "%s-passes" (include "brand-data.fullname" .root)) | quote }}
      key: {{ .name }}
      optional: true
{{- end -}}

{{/* Environment variables with the addresses that `bds` calls. */}}
{{- define "brand-data.env.bds" -}}
{{- range $service, $name := dict "accounts" "accounts" "catalog" "catalog" "metering" "metering" "images" "images-admin" -}}
- name: BDS_{{ upper $service }}
  value: {{ include "brand-data.fullname" $ }}-{{ $name }}:{{ include "brand-data.grpc.adminPort" $ }}
{{ end -}}
{{ if include "brand-data.grpc.isTls" . -}}
- name: BDS_CERTIFICATES
  value: /certificates
{{ else -}}
- name: BDS_GRPC_TRANSPORT
  value: insecure_plaintext
{{ end -}}
- name: BDS_OPERATOR_TOKEN
  valueFrom:
    secretKeyRef:
      name: {{ include "brand-data.operator.secret" $ | quote }}
      key: OPERATOR_TOKEN
{{- end -}}
