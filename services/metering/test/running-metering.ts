import { launchService, type RunningService } from '@brand-data/testing/running-service';

/** The service as a separate process. */
export interface RunningMetering extends RunningService {
  /** The metrics as Prometheus reads them. */
  metrics(): Promise<string>;
}

export async function startMetering(settings: {
  mongodbUrl: string;
  natsUrl: string;
  database: string;
  operatorToken: string;
  /** The number of usage streams. Absent: one. */
  streams?: number;
  /** The largest size of a usage stream. Absent: the default. */
  streamMaxBytes?: number;
}): Promise<RunningMetering> {
  const service = await launchService('metering', settings, {
    USAGE_STREAMS: String(settings.streams ?? 1),
    ...(settings.streamMaxBytes !== undefined && { USAGE_STREAM_MAX_BYTES: String(settings.streamMaxBytes) }),
  });
  await service.untilReady();
  return { ...service, metrics: async () => (await fetch(`${service.opsUrl}/metrics`)).text() };
}
