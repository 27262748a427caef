{{/* The beginning of every pod's spec. `runAsUser` is the user of a public image, by default `pod.runAsUser` of the values. */}}
{{- define "brand-data.pod" -}}
{{- $pod := .root.Values.pod -}}
{{- $user := default $pod.runAsUser .runAsUser -}}
serviceAccountName: {{ include "brand-data.fullname" .root }}-{{ default .component .serviceAccount }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  {{- with $user }}
  runAsUser: {{ int . }}
  runAsGroup: {{ int . }}
  fsGroup: {{ int . }}
  {{- end }}
  seccompProfile:
    type: RuntimeDefault
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
{{- with $pod.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $pod.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $pod.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $pod.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- end -}}

{{/*
Labels and annotations of a pod. `annotations` are added to those of all pods. No label holds a version,
because an upgrade would then restart every pod, even one that does not change otherwise.
*/}}
{{- define "brand-data.pod.metadata" -}}
labels:
  {{- include "brand-data.selector" . | nindent 2 }}
  {{- with .root.Values.pod.labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (default dict .annotations) .root.Values.pod.annotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Settings of every container. */}}
{{- define "brand-data.container.security" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}
