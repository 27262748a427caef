import type { baseSpec, ConfigOf, ConfigSpec } from '../config/config.ts';
import { runService } from '../service/run-service.ts';
import type { Service } from '../service/service.ts';
import { runSetUp } from '../service/set-up.ts';
import { type AdminPortContract, BackendPorts, type PortsConfig } from './ports.ts';

/**
 * Runs a backend service: one with a database and an admin port. `node main.js set-up` only opens its storage, which creates the
 * database and the streams or brings them up to date.
 */
export async function runBackend<StorageSpec extends ConfigSpec, ServiceSpec extends ConfigSpec>(
  name: string,
  backend: {
    /** The settings that `openStorage` needs. */
    storageSpec: StorageSpec;
    openStorage: (service: Service, config: ConfigOf<StorageSpec>) => Promise<unknown>;
    serviceSpec: ServiceSpec;
    adminPort: AdminPortContract;
  },
  start: (
    service: Service,
    config: ConfigOf<typeof baseSpec & ServiceSpec>,
    ports: BackendPorts,
  ) => Promise<void>,
): Promise<void> {
  const { storageSpec, openStorage, serviceSpec } = backend;
  if (process.argv[2] === 'set-up') return runSetUp(name, storageSpec, openStorage);
  return runService(name, serviceSpec, async (service, config) => {
    // TypeScript does not see that a mapped type over an intersection has the members of its parts.
    const ports = await BackendPorts.prepare(service, config as PortsConfig, backend.adminPort);
    await start(service, config, ports);
  });
}
