interface Pod {
  name: string;
  user: number;
  labels?: Record<string, string>;
  restartPolicy?: string;
  container: Record<string, unknown>;
  volumes: unknown[];
}

/** Returns a pod of the restricted profile with this one container. */
export function pod({ name, user, labels = {}, restartPolicy = 'Always', container, volumes }: Pod): unknown {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels },
    spec: {
      restartPolicy,
      automountServiceAccountToken: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: user,
        runAsGroup: user,
        fsGroup: user,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name,
          imagePullPolicy: 'IfNotPresent',
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          ...container,
        },
      ],
      volumes,
    },
  };
}
