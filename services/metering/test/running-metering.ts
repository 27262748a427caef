import { launchService, type RunningService } from '../../../test/stack/running-service.ts';

/** The service as its own process. */
export interface RunningMetering extends RunningService {
  /** What Prometheus reads. */
  metrics(): Promise<string>;
}

export async function startMetering(settings: {
  mongodbUrl: string;
  natsUrl: string;
  database: string;
  operatorToken: string;
  /** Usage streams; absent: one. */
  streams?: number;
  /** The largest size of a usage stream; absent: as it comes. */
  streamMaxBytes?: number;
}): Promise<RunningMetering> {
  const service = await launchService('metering', settings, {
    USAGE_STREAMS: String(settings.streams ?? 1),
    ...(settings.streamMaxBytes !== undefined && { USAGE_STREAM_MAX_BYTES: String(settings.streamMaxBytes) }),
  });
  await service.untilReady();
  return { ...service, metrics: async () => (await fetch(`${service.opsUrl}/metrics`)).text() };
}
