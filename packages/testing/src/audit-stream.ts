import { AUDIT_STREAM, AUDIT_SUBJECTS } from '@brand-data/contracts';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

/** Creates the stream of operators' changes, for a service that a test runs without accounts. */
export async function createAuditStream(natsUrl: string): Promise<void> {
  const connection = await connect({ servers: natsUrl });
  try {
    const { streams } = await jetstreamManager(connection);
    await streams.add({ name: AUDIT_STREAM, subjects: [AUDIT_SUBJECTS] });
  } finally {
    await connection.close();
  }
}
