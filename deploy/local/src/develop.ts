import type { PlannedService } from './plan.ts';

/** Node's usual port for a debugger. The first service has it, and each other service the next one. */
const FIRST_INSPECTOR_PORT = 9229;

/**
 * Returns the services as a developer wants them.
 *
 * @param watch restart a service at once when one of the files changes that it has loaded
 * @param inspect let a debugger attach to each service
 */
export function develop(
  services: readonly PlannedService[],
  { watch, inspect }: { watch: boolean; inspect: boolean },
): PlannedService[] {
  return services.map((service, index) => ({
    ...service,
    nodeOptions: [
      ...(watch ? ['--watch', '--watch-preserve-output'] : []),
      ...(inspect ? [`--inspect=127.0.0.1:${FIRST_INSPECTOR_PORT + index}`] : []),
    ],
    // No load balancer has to learn that the service is about to stop.
    environment: { ...service.environment, ...(watch && { DRAIN_MS: 0 }) },
  }));
}
