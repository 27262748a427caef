{{/* Annotations of a hook that leaves nothing behind when it succeeds, and its log when it does not. */}}
{{- define "brand-data.hook" -}}
helm.sh/hook: {{ .when }}
helm.sh/hook-weight: {{ .weight | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}

{{/* What runs `bds`, or a script of files/scripts with it: the toolbox, the quickstart's seed and `helm test`. */}}
{{- define "brand-data.bds.container" -}}
- name: {{ .component }}
  image: {{ include "brand-data.image" (dict "root" .root "component" "bds") | quote }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  command: {{- toYaml .command | nindent 4 }}
  # The one folder that can be written to: `bds` leaves reports where it runs.
  workingDir: /tmp
  env:
    {{- include "brand-data.env.bds" .root | nindent 4 }}
    {{- range $name, $value := .env }}
    - name: {{ $name }}
      value: {{ $value | quote }}
    {{- end }}
  resources: {{- toYaml .root.Values.bds.resources | nindent 4 }}
  {{- include "brand-data.container.security" . | nindent 2 }}
  volumeMounts:
    - name: tmp
      mountPath: /tmp
    - name: scripts
      mountPath: /scripts
{{- end -}}

{{- define "brand-data.bds.volumes" -}}
- name: tmp
  emptyDir: {}
- name: scripts
  configMap:
    name: {{ include "brand-data.fullname" .root }}-scripts
{{- end -}}
