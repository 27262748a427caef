import type { JetStreamManager, StreamConfig } from '@nats-io/jetstream';
import { type Found, foundFill } from '../observe/diagnosis.ts';
import type { Service } from '../service/service.ts';

const FILL = { warning: 0.5, wrong: 0.8 };
/** Settings that a stream needs so that no message is lost. Another version of the service may have changed them. */
const SETTINGS = [
  'max_age',
  'max_bytes',
  'num_replicas',
  'discard',
  'retention',
  'duplicate_window',
] as const;

const GONE: Found = {
  state: 'wrong',
  detail: 'it does not exist',
  advice: 'restart one replica of the service, which creates it again; find out who has removed it',
};

/** Adds the check of a stream that the service has created: whether it exists with these settings, and how full it is. */
export function checkStream(
  { diagnosis }: Pick<Service, 'diagnosis'>,
  manager: JetStreamManager,
  wanted: Partial<StreamConfig> & { name: string },
): void {
  diagnosis?.add(`stream ${wanted.name}`, async () => {
    const info = await manager.streams.info(wanted.name).catch(unlessMissing);
    if (info === undefined) return GONE;
    const { config, state, cluster } = info;
    const other = SETTINGS.filter((name) => wanted[name] !== undefined && config[name] !== wanted[name]);
    if (other.length > 0)
      return {
        state: 'warning',
        detail: `${other.join(', ')} ${other.length === 1 ? 'is' : 'are'} not as this service has set`,
        advice: 'give all replicas of the service the same version and settings, and restart one',
      };
    const behind = (cluster?.replicas ?? []).filter(({ current, offline }) => offline || !current);
    if (behind.length > 0)
      return {
        state: 'warning',
        detail: `${behind.length} of ${config.num_replicas} copies are not up to date`,
        advice: 'check that all nats-servers run: nats stream info shows which one is behind',
      };
    const held = `${state.messages} messages, ${Math.ceil(state.bytes / 1024)} KiB`;
    if (config.max_bytes <= 0) return { state: 'ok', detail: held };
    const share = state.bytes / config.max_bytes;
    return foundFill(share, FILL, {
      detail: `${held}, ${Math.round(share * 100)} % full`,
      advice: 'see why its messages are not applied: a full stream takes no more',
    });
  });
}

/** Adds the check of a durable consumer: whether it exists, and whether it keeps up. */
export function checkConsumer(
  { diagnosis }: Pick<Service, 'diagnosis'>,
  manager: JetStreamManager,
  { stream, consumer, most }: { stream: string; consumer: string; most: number },
): void {
  diagnosis?.add(`consumer of ${stream}`, async (): Promise<Found> => {
    const info = await manager.consumers.info(stream, consumer).catch(unlessMissing);
    if (info === undefined) return GONE;
    const { num_pending: pending, num_ack_pending: taken } = info;
    const detail = `${pending} messages wait, and ${taken} are being applied`;
    if (pending <= most) return { state: 'ok', detail };
    const advice =
      'check the database of the service and its log; more replicas help only if the database keeps up';
    return { state: 'warning', detail, advice };
  });
}

/** Returns undefined if the stream or the consumer does not exist. Throws every other error. */
export function unlessMissing(error: { code?: number }): undefined {
  if (![404, 10_014, 10_059].includes(error.code ?? 0)) throw error;
}
