{{/*
How services call one another. A port's number says how: 9000 and 9001 answer calls without any proof of identity, as the version
without `grpc.transport` did, and 9002 and 9003 only calls by mutual TLS. So both can run side by side during an upgrade.
*/}}

{{- define "brand-data.grpc.isTls" -}}
{{- if ne .Values.grpc.transport "insecure_plaintext" }}true{{ end -}}
{{- end -}}

{{- define "brand-data.grpc.isPlaintext" -}}
{{- if ne .Values.grpc.transport "mutual_tls" }}true{{ end -}}
{{- end -}}

{{/* The port that clients call, for gateways and for operators. */}}
{{- define "brand-data.grpc.port" -}}{{ ternary 9002 9000 (eq (include "brand-data.grpc.isTls" .) "true") }}{{- end -}}
{{- define "brand-data.grpc.adminPort" -}}{{ ternary 9003 9001 (eq (include "brand-data.grpc.isTls" .) "true") }}{{- end -}}

{{/* The container ports of a backend, by name. With `adminOnly` those of a service that no gateway calls. */}}
{{- define "brand-data.grpc.containerPorts" -}}
{{- $ports := dict "admin" (include "brand-data.grpc.adminPort" .root | int) -}}
{{- if not .adminOnly }}{{ $_ := set $ports "grpc" (include "brand-data.grpc.port" .root | int) }}{{ end -}}
{{- if eq .root.Values.grpc.transport "mutual_tls_and_plaintext" -}}
{{- $_ := set $ports "admin-plain" 9001 -}}
{{- if not .adminOnly }}{{ $_ := set $ports "grpc-plain" 9000 }}{{ end -}}
{{- end -}}
{{- toJson $ports -}}
{{- end -}}

{{/* The ports in a NetworkPolicy. `tls` and `plaintext` are their numbers. */}}
{{- define "brand-data.grpc.policyPorts" -}}
{{- $ports := list -}}
{{- if include "brand-data.grpc.isTls" .root }}{{ $ports = append $ports (printf "{ protocol: TCP, port: %d }" .tls) }}{{ end -}}
{{- if include "brand-data.grpc.isPlaintext" .root }}{{ $ports = append $ports (printf "{ protocol: TCP, port: %d }" .plaintext) }}{{ end -}}
[{{ join ", " $ports }}]
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
{{- if eq .root.Values.grpc.transport "mutual_tls_and_plaintext" }}
ADMIN_GRPC_PLAINTEXT_PORT: "9001"
{{- if not .adminOnly }}
GRPC_PLAINTEXT_PORT: "9000"
{{- end }}
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
