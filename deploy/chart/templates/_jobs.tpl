{{/* Annotations of a hook. Helm deletes it when it succeeds, and keeps it and its log when it fails. */}}
{{- define "brand-data.hook" -}}
helm.sh/hook: {{ .when }}
helm.sh/hook-weight: {{ .weight | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}

{{/* Not empty if there is a pod for operators. If operators are elsewhere, they do not need a pod that holds a credential. */}}
{{- define "brand-data.bds.isOn" -}}
{{- if eq (toString .Values.bds.enabled) "auto" -}}
{{- ternary "" "true" (not (empty .Values.networkPolicy.operators)) -}}
{{- else if .Values.bds.enabled -}}true{{- end -}}
{{- end -}}

{{/*
A container with `bds` or a script of files/scripts that uses it: for the bds pod, its jobs, the quickstart's seed and `helm test`.
`resources` and `mounts` are those of a job that needs others.
*/}}
{{- define "brand-data.bds.container" -}}
- name: {{ .component }}
  image: {{ include "brand-data.image" (dict "root" .root "component" "bds") | quote }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  command: {{- toYaml .command | nindent 4 }}
  # The only writable folder: `bds` writes its reports to the folder in which it runs.
  workingDir: /tmp
  env:
    {{- include "brand-data.env.bds" .root | nindent 4 }}
    {{- range $name, $value := .env }}
    - name: {{ $name }}
      value: {{ $value | quote }}
    {{- end }}
  resources: {{- toYaml (default .root.Values.bds.resources .resources) | nindent 4 }}
  {{- include "brand-data.container.security" . | nindent 2 }}
  volumeMounts:
    - name: tmp
      mountPath: /tmp
    - name: scripts
      mountPath: /scripts
    - name: secrets
      mountPath: /secrets
      readOnly: true
    {{- with include "brand-data.grpc.mount" . }}
    {{- . | nindent 4 }}
    {{- end }}
    {{- with .mounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}

{{- define "brand-data.bds.volumes" -}}
- name: tmp
  emptyDir: {}
- name: scripts
  configMap:
    name: {{ include "brand-data.fullname" .root }}-scripts
- name: secrets
  secret:
    secretName: {{ include "brand-data.operator.secret" .root | quote }}
    items:
      - { key: OPERATOR_TOKEN, path: OPERATOR_TOKEN }
{{- with include "brand-data.grpc.volume" (dict "root" .root "component" "bds") }}
{{ . }}
{{- end }}
{{- end -}}
