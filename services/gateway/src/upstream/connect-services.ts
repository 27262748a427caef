import { AccountsServiceClient, CatalogServiceClient, MeteringServiceClient } from '@brand-data/contracts';
import {
  type ConfigOf,
  connectChannel,
  openTransport,
  type Service,
  type transportSpec,
} from '@brand-data/runtime';

/** Opens the channels to the other services. They are closed when the service stops. */
export async function connectServices(
  service: Service,
  config: ConfigOf<typeof transportSpec> &
    Record<'ACCOUNTS_TARGET' | 'CATALOG_TARGET' | 'METERING_TARGET', string>,
) {
  const channel = { transport: await openTransport(service, config), service };
  const repeatable = { ...channel, isIdempotent: true };
  const upstreams = {
    accounts: connectChannel(AccountsServiceClient, config.ACCOUNTS_TARGET, {
      ...repeatable,
      peer: 'accounts',
    }),
    catalog: connectChannel(CatalogServiceClient, config.CATALOG_TARGET, { ...repeatable, peer: 'catalog' }),
    metering: connectChannel(MeteringServiceClient, config.METERING_TARGET, { ...channel, peer: 'metering' }),
  };
  service.onStop('gRPC channels', () => {
    for (const client of Object.values(upstreams)) client.close();
  });
  return upstreams;
}
