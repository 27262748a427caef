{{/*
Accounts signs the limits that gateways pass on to metering. Accounts gets only the private key, and metering only the public ones.
Kubernetes replaces the mounted files when the Secret changes, and the services read them again.
*/}}

{{- define "brand-data.allowance.secret" -}}
{{- default (printf "%s-allowance-keys" (include "brand-data.fullname" .)) .Values.allowanceKeys.existingSecret -}}
{{- end -}}

{{/* The key in that Secret which the pods of `component` get. Other components get none. */}}
{{- define "brand-data.allowance.file" -}}
{{- if eq .component "accounts" -}}signing-key.pem{{- else if eq .component "metering" -}}public-keys.pem{{- end -}}
{{- end -}}

{{- define "brand-data.allowance.volume" -}}
{{- with include "brand-data.allowance.file" . -}}
- name: allowance-keys
  secret:
    secretName: {{ include "brand-data.allowance.secret" $.root | quote }}
    items:
      - { key: {{ . }}, path: {{ . }} }
{{- end -}}
{{- end -}}

{{- define "brand-data.allowance.mount" -}}
{{- if include "brand-data.allowance.file" . -}}
- name: allowance-keys
  mountPath: /allowance-keys
  readOnly: true
{{- end -}}
{{- end -}}
