import { launchService } from '@brand-data/testing/running-service';

export type RunningMetering = Awaited<ReturnType<typeof startMetering>>;

/**
 * Starts the service in a separate process.
 *
 * @param settings `streams`: the number of usage streams, by default one. `streamMaxBytes`: the largest size of each
 */
export async function startMetering(settings: {
  mongodbUrl: string;
  natsUrl: string;
  database: string;
  operatorToken: string;
  streams?: number;
  streamMaxBytes?: number;
}) {
  const service = await launchService('metering', settings, {
    USAGE_STREAMS: String(settings.streams ?? 1),
    ...(settings.streamMaxBytes !== undefined && { USAGE_STREAM_MAX_BYTES: String(settings.streamMaxBytes) }),
  });
  await service.untilReady();
  return service;
}
