{{/*
The objects that the five services have in common. Arguments besides `root` and `component`:
  config  environment by name, for the ConfigMap
  ports   container ports by name; `metrics` (9090) is always added
*/}}

{{/* Seconds from the end of the drain until Kubernetes kills the pod. A service needs at most 25 s. */}}
{{- define "brand-data.stopSeconds" -}}30{{- end -}}

{{- define "brand-data.configmap" -}}
apiVersion: v1
kind: ConfigMap
metadata: {{- include "brand-data.metadata" . | nindent 2 }}
data: {{- include "brand-data.config" . | nindent 2 }}
{{- end -}}

{{- define "brand-data.config" -}}
{{- $values := .root.Values -}}
{{- $common := dict
  "LOG_LEVEL" $values.logLevel
  "OPS_PORT" "9090"
  "DRAIN_MS" (mul $values.drainSeconds 1000 | toString) -}}
{{- if $values.tracing.endpoint -}}
{{- $_ := set $common "OTEL_EXPORTER_OTLP_ENDPOINT" $values.tracing.endpoint -}}
{{- $_ := set $common "OTEL_TRACES_SAMPLER" "parentbased_traceidratio" -}}
{{- $_ := set $common "OTEL_TRACES_SAMPLER_ARG" ($values.tracing.sampleRatio | toString) -}}
{{- with $values.tracing.trustedCallers -}}
{{- $_ := set $common "TRACE_TRUSTED_CALLERS" (join "," .) -}}
{{- end -}}
{{- end -}}
{{- toYaml (merge (deepCopy (index $values .component).extraEnv) .config $common (include "brand-data.grpc.config" . | fromYaml)) -}}
{{- end -}}

{{/*
A headless Service for the gRPC ports `grpc`, by their names. The ports are numbers, so that during an upgrade the Service also has
the pods that do not know a port's name. Its name resolves to the pods' own addresses, so that gRPC clients
can use all replicas in turn.
*/}}
{{- define "brand-data.headless" -}}
apiVersion: v1
kind: Service
metadata: {{- include "brand-data.metadata" . | nindent 2 }}
spec:
  clusterIP: None
  selector: {{- include "brand-data.selector" . | nindent 4 }}
  ports:
    {{- range $name, $port := .grpc }}
    - name: {{ $name }}
      port: {{ int $port }}
      targetPort: {{ int $port }}
      appProtocol: {{ ternary "kubernetes.io/h2c" "https" (lt (int $port) 9002) }}
    {{- end }}
{{- end -}}

{{/* The Service of a public HTTP server, with the values' `service` of the component. */}}
{{- define "brand-data.public" -}}
{{- $values := (index .root.Values .component).service -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "brand-data.metadata" . | nindent 2 }}
  {{- with $values.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ $values.type }}
  selector: {{- include "brand-data.selector" . | nindent 4 }}
  ports:
    - name: http
      port: {{ int $values.port }}
      targetPort: http
      appProtocol: http
{{- end -}}

{{- define "brand-data.deployment" -}}
{{- $values := index .root.Values .component -}}
{{- $annotations := dict
  "checksum/config" (include "brand-data.config" . | sha256sum)
  "checksum/connections" (include "brand-data.connections" .root | sha256sum) -}}
{{- if .root.Values.metrics.annotations -}}
{{- $_ := set $annotations "prometheus.io/scrape" "true" -}}
{{- $_ := set $annotations "prometheus.io/port" "9090" -}}
{{- $_ := set $annotations "prometheus.io/path" "/metrics" -}}
{{- end -}}
apiVersion: apps/v1
kind: Deployment
metadata: {{- include "brand-data.metadata" . | nindent 2 }}
spec:
  {{- if not ($values.autoscaling | default dict).enabled }}
  replicas: {{ int $values.replicas }}
  {{- end }}
  revisionHistoryLimit: 3
  minReadySeconds: {{ int .root.Values.minReadySeconds }}
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxUnavailable: 0
      maxSurge: 25%
  selector:
    matchLabels: {{- include "brand-data.selector" . | nindent 6 }}
  template:
    metadata: {{- include "brand-data.pod.metadata" (merge (dict "annotations" $annotations) .) | nindent 6 }}
    spec:
      {{- include "brand-data.pod" . | nindent 6 }}
      # There is no preStop hook, because on SIGTERM a service itself continues to serve for DRAIN_MS.
      terminationGracePeriodSeconds: {{ add (int .root.Values.drainSeconds) (include "brand-data.stopSeconds" . | int) }}
      topologySpreadConstraints:
        {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
        - topologyKey: {{ . }}
          maxSkew: 1
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels: {{- include "brand-data.selector" $ | nindent 14 }}
          matchLabelKeys: [pod-template-hash]
        {{- end }}
      containers:
        - name: {{ .component }}
          image: {{ include "brand-data.image" . | quote }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          envFrom:
            - configMapRef:
                name: {{ include "brand-data.component.fullname" . }}
          env: {{- include "brand-data.secretFiles.env" . | nindent 12 }}
          ports:
            {{- range $name, $port := merge (dict "metrics" 9090) .ports }}
            - name: {{ $name }}
              containerPort: {{ int $port }}
            {{- end }}
          # A service answers probes from the start. Only readiness depends on what the service waits for.
          startupProbe:
            httpGet: { path: /livez, port: metrics }
            periodSeconds: 1
            failureThreshold: 60
          livenessProbe:
            httpGet: { path: /livez, port: metrics }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 3
          readinessProbe:
            httpGet: { path: /readyz, port: metrics }
            periodSeconds: 2
            timeoutSeconds: 2
            failureThreshold: 2
          resources: {{- toYaml $values.resources | nindent 12 }}
          {{- include "brand-data.container.security" . | nindent 10 }}
          {{- $mounts := list (include "brand-data.secretFiles.mount" .) (include "brand-data.grpc.mount" .) (include "brand-data.allowance.mount" .) }}
          volumeMounts: {{- compact $mounts | join "\n" | nindent 12 }}
      {{- $volumes := list (include "brand-data.secretFiles.volume" .) (include "brand-data.grpc.volume" .) (include "brand-data.allowance.volume" .) }}
      volumes: {{- compact $volumes | join "\n" | nindent 8 }}
{{- end -}}

{{/* ConfigMap, headless Service and Deployment of a service that the gateways call. */}}
{{- define "brand-data.backend" -}}
{{- $database := dict "MONGODB_DATABASE" (index .root.Values.mongodb.databases .component) -}}
{{- $listen := include "brand-data.grpc.listen" . | fromYaml -}}
{{- $service := dict
  "root" .root "component" .component
  "config" (merge $listen $database .config)
  "ports" (include "brand-data.grpc.containerPorts" . | fromJson) -}}
{{ include "brand-data.configmap" $service }}
---
{{ include "brand-data.headless" (set $service "grpc" $service.ports) }}
---
{{ include "brand-data.deployment" $service }}
{{- end -}}
