{{/*
Secrets are mounted as files, because environment variables show up in other tools. Kubernetes replaces the files when a Secret
changes, and the services read them again. A file has the name of its setting. Each container gets only the files that it needs.
*/}}

{{/*
The files of a service's container, by setting: the `secret` (or `configMap`) and the `key` that hold each. With `setUp`, those of
its set-up. `connections`: the name of the Secret with the URLs that the chart knows, if it is not the usual one.
*/}}
{{- define "brand-data.secretFiles" -}}
{{- $values := .root.Values -}}
{{- $files := dict -}}
{{- $operator := include "brand-data.operator.secret" .root -}}
{{- if and (not .setUp) (has .component (list "gateway" "images")) -}}
{{- /* If an existing Secret lacks this key, the services say so at their start. */ -}}
{{- $_ := set $files "MONOGRAM_KEYS" (dict "secret" $operator "key" "MONOGRAM_KEYS" "optional" true) -}}
{{- end -}}
{{- if or (not .setUp) (ne .component "images") -}}
{{- $_ := set $files "NATS_URL" (include "brand-data.secretFiles.url" (merge (dict "server" "nats") .) | fromYaml) -}}
{{- include "brand-data.secretFiles.ca" (dict "files" $files "setting" "NATS_CA" "ca" $values.nats.ca) -}}
{{- end -}}
{{- if ne .component "gateway" -}}
{{- $_ := set $files "MONGODB_URL" (include "brand-data.secretFiles.url" (merge (dict "server" "mongodb") .) | fromYaml) -}}
{{- include "brand-data.secretFiles.ca" (dict "files" $files "setting" "MONGODB_CA" "ca" $values.mongodb.ca) -}}
{{- if not .setUp -}}
{{- $_ := set $files "OPERATOR_TOKEN" (dict "secret" $operator "key" "OPERATOR_TOKEN") -}}
{{- $passes := $values.operator.existingSecret | default (printf "%s-passes" (include "brand-data.fullname" .root)) -}}
{{- $pass := ternary "PASS_SIGNING_KEY" "PASS_PUBLIC_KEYS" (eq .component "accounts") -}}
{{- /* Without this key, services still accept the operator token. */ -}}
{{- $_ := set $files $pass (dict "secret" $passes "key" $pass "optional" true) -}}
{{- if and (eq .component "metering") $values.metering.notices.existingSecret -}}
{{- range $setting := list "NOTICE_WEBHOOK_URL" "NOTICE_WEBHOOK_SECRETS" -}}
{{- $_ := set $files $setting (dict "secret" $values.metering.notices.existingSecret "key" $setting) -}}
{{- end -}}
{{- end -}}
{{- if eq .component "accounts" -}}
{{- $_ := set $files "TOKEN_HASH_KEY" (dict "secret" $operator "key" "TOKEN_HASH_KEY") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toYaml $files -}}
{{- end -}}

{{/* Where the URL of `server` ("nats" or "mongodb") is. A service without its own key in an existing Secret uses the common key. */}}
{{- define "brand-data.secretFiles.url" -}}
{{- $values := index .root.Values .server -}}
{{- $setting := printf "%s_URL" (upper .server) -}}
{{- if .root.Values.quickstart.enabled -}}
secret: {{ .connections | default (include "brand-data.connections.secret" .root) }}
key: {{ upper .component }}_{{ $setting }}
{{- else if $values.existingSecret -}}
secret: {{ $values.existingSecret | quote }}
key: {{ index $values.secretKeys .component | default (ternary $values.secretKey $values.secretKeys.catalog (eq .server "nats")) | quote }}
{{- else -}}
secret: {{ .connections | default (include "brand-data.connections.secret" .root) }}
key: {{ $setting }}
{{- end -}}
{{- end -}}

{{/* Adds the file of a CA bundle to `files`, if the values name one. */}}
{{- define "brand-data.secretFiles.ca" -}}
{{- with .ca -}}
{{- if .secret -}}
{{- $_ := set $.files $.setting (dict "secret" .secret "key" .key) -}}
{{- else if .configMap -}}
{{- $_ := set $.files $.setting (dict "configMap" .configMap "key" .key) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Environment variables that name the files. */}}
{{- define "brand-data.secretFiles.env" -}}
{{- range $setting, $_ := include "brand-data.secretFiles" . | fromYaml }}
- name: {{ $setting }}_FILE
  value: /secrets/{{ $setting }}
{{- end -}}
{{- end -}}

{{/* `volume`: the volume's name, by default "secrets". */}}
{{- define "brand-data.secretFiles.mount" -}}
- name: {{ .volume | default "secrets" }}
  mountPath: /secrets
  readOnly: true
{{- end -}}

{{- define "brand-data.secretFiles.volume" -}}
- name: {{ .volume | default "secrets" }}
  projected:
    sources:
      {{- range $setting, $file := include "brand-data.secretFiles" . | fromYaml }}
      - {{ ternary "secret" "configMap" (hasKey $file "secret") }}:
          name: {{ $file.secret | default $file.configMap | quote }}
          items:
            - { key: {{ $file.key | quote }}, path: {{ $setting }} }
          {{- if $file.optional }}
          optional: true
          {{- end }}
      {{- end }}
{{- end -}}
