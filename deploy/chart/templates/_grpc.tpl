{{/*
How services call one another. A port's number says how: 9002 and 9003 answer only calls by mutual TLS, and 9000 and 9001 answer calls
without any proof of identity.
*/}}

{{- define "brand-data.grpc.isTls" -}}
{{- if ne .Values.grpc.transport "insecure_plaintext" }}true{{ end -}}
{{- end -}}

{{/* The port that clients call, for gateways and for operators. */}}
{{- define "brand-data.grpc.port" -}}{{ ternary 9002 9000 (eq (include "brand-data.grpc.isTls" .) "true") }}{{- end -}}
{{- define "brand-data.grpc.adminPort" -}}{{ ternary 9003 9001 (eq (include "brand-data.grpc.isTls" .) "true") }}{{- end -}}

{{/* The container ports of a backend, by name. With `adminOnly` those of a service that no gateway calls. */}}
{{- define "brand-data.grpc.containerPorts" -}}
{{- $ports := dict "admin" (include "brand-data.grpc.adminPort" .root | int) -}}
{{- if not .adminOnly }}{{ $_ := set $ports "grpc" (include "brand-data.grpc.port" .root | int) }}{{ end -}}
{{- toJson $ports -}}
{{- end -}}

{{/* Settings of every service. */}}
{{- define "brand-data.grpc.config" -}}
GRPC_TRANSPORT: {{ .root.Values.grpc.transport }}
{{- if include "brand-data.grpc.isTls" .root }}
TLS_CERT_FILE: /certificates/tls.crt
TLS_KEY_FILE: /certificates/tls.key
TLS_CA_FILE: /certificates/ca.crt
{{- end }}
{{- end -}}

{{/* Settings of a service with gRPC ports. */}}
{{- define "brand-data.grpc.listen" -}}
ADMIN_GRPC_PORT: {{ include "brand-data.grpc.adminPort" .root | quote }}
{{- if not .adminOnly }}
GRPC_PORT: {{ include "brand-data.grpc.port" .root | quote }}
{{- end }}
{{- end -}}

{{/* The Secret with the certificate of `component`: tls.crt, tls.key and ca.crt. */}}
{{- define "brand-data.grpc.secret" -}}
{{- default (printf "%s-grpc-%s" (include "brand-data.fullname" .root) .component) (index .root.Values.grpc.tls.existingSecrets .component) -}}
{{- end -}}

{{- define "brand-data.grpc.volume" -}}
{{- if include "brand-data.grpc.isTls" .root -}}
- name: certificates
  secret:
    secretName: {{ include "brand-data.grpc.secret" . }}
{{- end -}}
{{- end -}}

{{- define "brand-data.grpc.mount" -}}
{{- if include "brand-data.grpc.isTls" .root -}}
- name: certificates
  mountPath: /certificates
  readOnly: true
{{- end -}}
{{- end -}}
