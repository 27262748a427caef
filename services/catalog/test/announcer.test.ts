import { CATALOG_CHANGES_SUBJECT } from '@brand-data/contracts';
import type { Nats, Service } from '@brand-data/runtime';
import { connect } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { startTestNats } from '../../../test/stack/servers.ts';
import { startAnnouncer } from '../src/announcer.ts';

test('an announcement that is lost with its connection is made again on the next one', async () => {
  const server = await startTestNats();
  const listener = await connect({ servers: server.url });
  const connection = await connect({ servers: server.url, reconnectTimeWait: 50 });
  try {
    let heard = 0;
    listener.subscribe(CATALOG_CHANGES_SUBJECT, { callback: () => void heard++ });
    await listener.flush();
    const announcer = startAnnouncer({ onStop: () => {} } as unknown as Service, { connection } as Nats);
    for (let round = 0; round < 5; round++) {
      const before = heard;
      const reconnected = connection.reconnect();
      await announcer.announce();
      await reconnected;
      await expect.poll(() => heard).toBeGreaterThan(before);
    }
  } finally {
    await Promise.all([listener.close(), connection.close()]);
    await server.stop();
  }
});
