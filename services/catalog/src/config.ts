import { databaseSpec, grpcPortsSpec, natsSpec, PASS_PUBLIC_KEYS } from '@brand-data/runtime';

/** The settings that both the service and `set-up` read. */
export const storageSpec = databaseSpec('brand_data_catalog');

export const serviceSpec = {
  ...storageSpec,
  ...grpcPortsSpec('Catalog'),
  PASS_PUBLIC_KEYS,
  ...natsSpec,
};
