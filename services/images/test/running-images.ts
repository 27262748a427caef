import { Readable } from 'node:stream';
import {
  ImageKind,
  ImagesAdminServiceClient,
  PutImageRequest,
  type SweepImagesRequest,
} from '@brand-data/contracts';
import { callClientStream, callUnary, connectChannel } from '@brand-data/runtime';
import { channelAs } from '@brand-data/runtime/test/channel-as.ts';
import { createAuditStream } from '@brand-data/testing/audit-stream';
import { launchService } from '@brand-data/testing/running-service';
import { startTestNats } from '@brand-data/testing/servers';

const OPERATOR_TOKEN = 'the operator credential of tests';
/** With which the service reads the paths of monograms. */
export const MONOGRAM_KEY = 'the key of monograms of tests';

export type RunningImages = Awaited<ReturnType<typeof startImages>>;

/** Starts the service in a separate process. Resolves to functions that call it. */
export async function startImages(
  settings: { mongodbUrl: string; database: string },
  environment: Record<string, string> = {},
) {
  const nats = await startTestNats();
  await createAuditStream(nats.url);
  const service = await launchService(
    'images',
    { ...settings, natsUrl: nats.url, operatorToken: OPERATOR_TOKEN },
    { LOG_LEVEL: 'debug', MONOGRAM_KEYS: MONOGRAM_KEY, ...environment },
  );
  await service.untilReady();
  const admin = connectChannel(ImagesAdminServiceClient, service.adminTarget, channelAs('bds', 'images'));
  service.clients.push(admin);
  const options = { deadlineMs: 20_000, operatorToken: OPERATOR_TOKEN };
  const url = `http://${service.target}`;
  const put = (request: Partial<PutImageRequest>) =>
    callUnary(admin, admin.putImage, PutImageRequest.fromPartial(request), options);
  const sweep = (messages: AsyncIterable<SweepImagesRequest>) =>
    callClientStream(admin, admin.sweepImages, messages, options);
  const ended = <Status>(end: Promise<Status>): Promise<Status> => end.finally(() => nats.stop());
  return {
    ...service,
    /** The public server, without a slash at the end. */
    url,
    /** What a gateway has as its logo host. */
    logoHost: `${url}/images`,
    put,
    putLogo: async (file: Uint8Array, darkFile?: Uint8Array) => {
      const light = { $case: 'file' as const, value: Buffer.from(file) };
      const dark = darkFile ? { darkFile: Buffer.from(darkFile) } : {};
      const { big, small } = await put({ kind: ImageKind.LOGO, light, ...dark });
      if (!big || !small) throw new Error('the answer has no images');
      return { big, small };
    },
    sweep: (messages: SweepImagesRequest[]) => sweep(Readable.from(messages)),
    /** Begins a sweep and breaks it off after the messages. */
    breakOffSweep: async (messages: SweepImagesRequest[]) => {
      const brokenOff = async function* () {
        yield* messages;
        throw new Error('broken off');
      };
      await sweep(brokenOff()).catch(() => {});
    },
    stop: () => ended(service.stop()),
    kill: () => ended(service.kill()),
  };
}
