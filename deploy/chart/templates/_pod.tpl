{{- /* Settings that are secrets. Each is read from a file. */ -}}
{{- define "deckhand.secretSettings" -}}
{{ list "DATABASE_URL" "JWT_SECRET" "ENCRYPTION_KEY" "ENCRYPTION_KEY_PREVIOUS" "RECEIPT_KEY" "PRIVATE_KEY" "WEBHOOK_SECRET" "WEBHOOK_SECRET_PREVIOUS" "GITHUB_CLIENT_SECRET" "OPENAI_API_KEY" "OTEL_EXPORTER_OTLP_HEADERS" "SMTP_URL" | join " " }}
{{- end -}}

{{- /* The environment that all processes share. */ -}}
{{- define "deckhand.env" -}}
{{- $secret := splitList " " (include "deckhand.secretSettings" .) -}}
{{- $ours := list "ROLE" "MIGRATE" "DATA_DIR" "HOST" "PORT" "METRICS_HOST" "METRICS_PORT" "SANDBOX" "RUNS_ON" "MAX_CONCURRENT_RUNS" -}}
- name: DATABASE_URL_FILE
  value: /etc/deckhand/DATABASE_URL
{{- range .Values.secrets.settings }}
{{- if not (has . $secret) }}
{{- fail (printf "secrets.settings: %s is no secret setting; put it into settings" .) }}
{{- end }}
{{- if eq . "DATABASE_URL" }}
{{- fail "secrets.settings: DATABASE_URL comes from database.secretName and database.key" }}
{{- end }}
- name: {{ . }}_FILE
  value: /etc/deckhand/{{ . }}
{{- end }}
{{- range $name, $value := .Values.settings }}
{{- if has $name $secret }}
{{- fail (printf "settings: %s is a secret; put it into the Secret %s, and its name into secrets.settings" $name $.Values.secrets.name) }}
{{- end }}
{{- if has $name $ours }}
{{- fail (printf "settings: the chart sets %s itself" $name) }}
{{- end }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{- define "deckhand.container" -}}
image: {{ include "deckhand.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end -}}

{{- define "deckhand.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "deckhand.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
{{- end -}}

{{- /* What the pods of all processes have in common. They need nothing from the API of Kubernetes. */ -}}
{{- define "deckhand.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "deckhand.mounts" -}}
- name: secrets
  mountPath: /etc/deckhand
  readOnly: true
- name: data
  mountPath: /data
- name: tmp
  mountPath: /tmp
- name: var-tmp
  mountPath: /var/tmp
{{- end -}}

{{- /* Takes a dict with `root`, and `data`: the size and the storage class of /data. */ -}}
{{- define "deckhand.volumes" -}}
- name: secrets
  projected:
    # 0440
    defaultMode: 288
    sources:
      - secret:
          name: {{ .root.Values.database.secretName }}
          items:
            - key: {{ .root.Values.database.key }}
              path: DATABASE_URL
      - secret:
          name: {{ .root.Values.secrets.name }}
          items:
            {{- range .root.Values.secrets.settings }}
            - key: {{ . }}
              path: {{ . }}
            {{- end }}
- name: data
  {{- if .data.storageClassName }}
  ephemeral:
    volumeClaimTemplate:
      spec:
        accessModes: [ReadWriteOnce]
        storageClassName: {{ .data.storageClassName }}
        resources:
          requests:
            storage: {{ .data.size }}
  {{- else }}
  emptyDir:
    sizeLimit: {{ .data.size }}
  {{- end }}
- name: tmp
  emptyDir:
    medium: Memory
    sizeLimit: 256Mi
- name: var-tmp
  emptyDir:
    medium: Memory
    sizeLimit: 64Mi
{{- end -}}

{{- /* Takes a dict with `root` and `component`. Pods of one version are spread over nodes and zones. */ -}}
{{- define "deckhand.spread" -}}
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
- maxSkew: 1
  topologyKey: {{ . }}
  whenUnsatisfiable: ScheduleAnyway
  matchLabelKeys: [pod-template-hash]
  labelSelector:
    matchLabels:
      {{- include "deckhand.selector" $.root | nindent 6 }}
      app.kubernetes.io/component: {{ $.component }}
{{- end }}
{{- end -}}

{{- /* Takes the values of web or of a group of workers. */ -}}
{{- define "deckhand.placement" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
