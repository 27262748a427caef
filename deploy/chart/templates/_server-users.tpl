{{/*
The users of the quickstart's NATS and MongoDB. The chart generates their passwords once and keeps them. packages/contracts says
what each user may do; files/nats-users.conf and files/mongodb-rights.json are made from it.
*/}}

{{- define "brand-data.serverUsers.secret" -}}{{ include "brand-data.fullname" . }}-server-users{{- end -}}

{{/* Passwords by "nats-gateway", "mongodb-accounts" and so on, and "mongodb-key", which the members of MongoDB share. */}}
{{- define "brand-data.serverUsers.passwords" -}}
{{- /* Kept in the values, because each call of randAlphaNum gives a new password, and several templates need the same one. */ -}}
{{- if not (hasKey .Values.quickstart "generated") -}}
{{- $kept := (lookup "v1" "Secret" .Release.Namespace (include "brand-data.serverUsers.secret" .)).data | default dict -}}
{{- $all := dict -}}
{{- $names := list "nats-gateway" "nats-accounts" "nats-catalog" "nats-metering" "nats-images" -}}
{{- range concat $names (list "mongodb-accounts" "mongodb-catalog" "mongodb-metering" "mongodb-images" "mongodb-key") -}}
{{- $_ := set $all . (index $kept . | default "" | b64dec | default (randAlphaNum 48)) -}}
{{- end -}}
{{- $_ := set .Values.quickstart "generated" $all -}}
{{- end -}}
{{- toYaml .Values.quickstart.generated -}}
{{- end -}}

{{/* Users and roles that the init job creates in MongoDB, as JSON. A user and its role have the name of the service's database. */}}
{{- define "brand-data.serverUsers.mongodb" -}}
{{- $passwords := include "brand-data.serverUsers.passwords" . | fromYaml -}}
{{- $users := list -}}
{{- range $service, $rights := .Files.Get "files/mongodb-rights.json" | fromJson -}}
{{- $database := index $.Values.mongodb.databases $service -}}
{{- $roles := list -}}
{{- range $rights.roles -}}{{- $roles = append $roles (dict "role" . "db" $database) -}}{{- end -}}
{{- $users = append $users (dict
  "name" $database
  "password" (index $passwords (printf "mongodb-%s" $service))
  "privileges" $rights.privileges
  "roles" $roles) -}}
{{- end -}}
{{- toJson $users -}}
{{- end -}}

{{/* The variables of nats-users.conf. */}}
{{- define "brand-data.serverUsers.nats" -}}
{{- $passwords := include "brand-data.serverUsers.passwords" . | fromYaml -}}
{{- range list "gateway" "accounts" "catalog" "metering" "images" }}
{{ upper . }}_NATS_PASSWORD: "{{ index $passwords (printf "nats-%s" .) }}"
{{- end }}
{{- end -}}

{{- define "brand-data.serverUsers.natsConfig" -}}
include ../nats-users/passwords.conf
MAX_FILE_STORE: {{ .Values.quickstart.nats.storage }}
{{ .Files.Get "files/nats.conf" }}
{{ .Files.Get "files/nats-users.conf" }}
{{- end -}}
