{{/* Where callers reach the product. A template's result is empty if the values do not determine it. */}}

{{/*
The URL of the first host of the Ingress or the HTTPRoute, without a path. A host with a wildcard is not an address. Whether an
HTTPRoute's Gateway has a certificate is not in the values. We assume that it has one, because the token is in callers' URLs.
*/}}
{{- define "brand-data.publicUrl" -}}
{{- $hosts := list -}}
{{- $scheme := "https" -}}
{{- if .Values.ingress.enabled -}}
{{- $hosts = .Values.ingress.hosts -}}
{{- $scheme = ternary "https" "http" (not (empty .Values.ingress.tlsSecret)) -}}
{{- else if .Values.httpRoute.enabled -}}
{{- $hosts = .Values.httpRoute.hostnames -}}
{{- end -}}
{{- range $hosts -}}
{{- if not (hasPrefix "*" .) -}}
{{- printf "%s://%s" $scheme . -}}
{{- break -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
The base URL of the images in records. The quickstart without an Ingress or HTTPRoute is reached by `kubectl port-forward`, so its
default is the port that the notes forward to images.
*/}}
{{- define "brand-data.logoHost" -}}
{{- $public := include "brand-data.publicUrl" . -}}
{{- if .Values.gateway.logoHost -}}
{{- .Values.gateway.logoHost -}}
{{- else if $public -}}
{{- $public }}/images
{{- else if .Values.quickstart.enabled -}}
http://127.0.0.1:8081/images
{{- end -}}
{{- end -}}
