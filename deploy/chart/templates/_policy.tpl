{{/* Parts of NetworkPolicies. All ports are ports of pods, not of Services. */}}

{{/* A selector of the release's pods of these `components`. */}}
{{- define "brand-data.policy.pods" -}}
matchLabels: {{- include "brand-data.release.selector" .root | nindent 2 }}
matchExpressions:
  - key: app.kubernetes.io/component
    operator: In
    values: [{{ join ", " .components }}]
{{- end -}}

{{- define "brand-data.policy.peer" -}}
- podSelector: {{- include "brand-data.policy.pods" . | nindent 4 }}
{{- end -}}

{{/* Each of the following templates gives rules for a policy's list `ingress` or `egress`. */}}

{{- define "brand-data.policy.dns" -}}
{{- with .Values.networkPolicy.dns -}}
- ports:
    - { protocol: UDP, port: {{ int .port }} }
    - { protocol: TCP, port: {{ int .port }} }
  {{- with .to }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "brand-data.policy.metrics" -}}
{{- with .Values.networkPolicy.prometheus -}}
- ports: [{ protocol: TCP, port: 9090 }]
  from: {{- toYaml . | nindent 4 }}
{{- end }}
{{- end -}}

{{- define "brand-data.policy.callers" -}}
- ports: [{ protocol: TCP, port: 8080 }]
  {{- with .Values.networkPolicy.callers }}
  from:
    {{- include "brand-data.policy.peer" (dict "root" $ "components" (list "test")) | nindent 4 }}
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* `components`: those of the release that may reach the admin ports. */}}
{{- define "brand-data.policy.operators" -}}
- ports: [{ protocol: TCP, port: {{ include "brand-data.grpc.adminPort" .root }} }]
  from:
    {{- include "brand-data.policy.peer" . | nindent 4 }}
    {{- with .root.Values.networkPolicy.operators }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}

{{- define "brand-data.policy.mongodb" -}}
{{- if .Values.quickstart.enabled -}}
- ports: [{ protocol: TCP, port: 27017 }]
  to: {{- include "brand-data.policy.peer" (dict "root" . "components" (list "mongodb")) | nindent 4 }}
{{- else -}}
{{- include "brand-data.policy.given" .Values.networkPolicy.mongodb -}}
{{- end -}}
{{- end -}}

{{- define "brand-data.policy.nats" -}}
{{- if .Values.quickstart.enabled -}}
- ports: [{ protocol: TCP, port: 4222 }]
  to: {{- include "brand-data.policy.peer" (dict "root" . "components" (list "nats")) | nindent 4 }}
{{- else -}}
{{- include "brand-data.policy.given" .Values.networkPolicy.nats -}}
{{- end -}}
{{- end -}}

{{- define "brand-data.policy.otlp" -}}
{{- with .Values.tracing.endpoint }}
{{- $port := splitList ":" (urlParse .).host | last | int }}
{{- include "brand-data.policy.given" (dict "ports" (list $port) "to" $.Values.networkPolicy.otlp.to) -}}
{{- end -}}
{{- end -}}

{{/* A rule that allows `ports` to the peers `to`, or to anywhere if `to` is empty. */}}
{{- define "brand-data.policy.given" -}}
- ports:
    {{- range .ports }}
    - { protocol: TCP, port: {{ int . }} }
    {{- end }}
  {{- with .to }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
