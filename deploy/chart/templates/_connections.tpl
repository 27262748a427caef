{{/* The URLs from the values or of the quickstart's servers, as a Secret's data, without the URLs that an existing Secret holds. */}}
{{- define "brand-data.connections" -}}
{{- $full := include "brand-data.fullname" . -}}
{{- if .Values.quickstart.enabled -}}
{{- $passwords := include "brand-data.serverUsers.passwords" . | fromYaml -}}
{{- range $service, $database := .Values.mongodb.databases }}
{{- $password := index $passwords (printf "mongodb-%s" $service) }}
{{ upper $service }}_MONGODB_URL: {{ printf "mongodb://%s:%s@%s-mongodb-0.%s-mongodb:27017/?replicaSet=brand-data" $database $password $full $full | quote }}
{{- end }}
{{- range list "gateway" "accounts" "catalog" "metering" "images" }}
{{ upper . }}_NATS_URL: {{ printf "nats://%s:%s@%s-nats:4222" . (index $passwords (printf "nats-%s" .)) $full | quote }}
{{- end }}
{{- else -}}
{{- if not .Values.mongodb.existingSecret -}}
MONGODB_URL: {{ .Values.mongodb.url | quote }}
{{ end -}}
{{- if not .Values.nats.existingSecret -}}
NATS_URL: {{ .Values.nats.url | quote }}
{{- end }}
{{- end -}}
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
- name: BDS_OPERATOR_TOKEN_FILE
  value: /secrets/OPERATOR_TOKEN
{{- end -}}
