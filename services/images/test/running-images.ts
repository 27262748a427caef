import { Readable } from 'node:stream';
import {
  type Image,
  ImageKind,
  ImagesAdminServiceClient,
  PutImageRequest,
  type PutImageResponse,
  type SweepImagesRequest,
  type SweepImagesResponse,
} from '@brand-data/contracts';
import { callClientStream, callUnary, connectChannel } from '@brand-data/runtime';
import { channelAs } from '@brand-data/runtime/test/channel-as.ts';
import { createAuditStream } from '@brand-data/testing/audit-stream';
import { launchService, type RunningService } from '@brand-data/testing/running-service';
import { startTestNats } from '@brand-data/testing/servers';

const OPERATOR_TOKEN = 'the operator credential of tests';

/** The service in a separate process, and functions that call it. */
export interface RunningImages extends RunningService {
  /** The public server, without a slash at the end. */
  url: string;
  /** What a gateway has as its logo host. */
  logoHost: string;
  put(request: Partial<PutImageRequest>): Promise<PutImageResponse>;
  putLogo(file: Uint8Array, darkFile?: Uint8Array): Promise<{ big: Image; small: Image }>;
  sweep(messages: SweepImagesRequest[]): Promise<SweepImagesResponse>;
  /** Begins a sweep and breaks it off after the messages. Resolves when the server has seen that. */
  breakOffSweep(messages: SweepImagesRequest[]): Promise<void>;
  metrics(): Promise<string>;
}

export async function startImages(
  settings: { mongodbUrl: string; database: string },
  environment: Record<string, string> = {},
): Promise<RunningImages> {
  const nats = await startTestNats();
  await createAuditStream(nats.url);
  const service = await launchService(
    'images',
    { ...settings, natsUrl: nats.url, operatorToken: OPERATOR_TOKEN },
    { LOG_LEVEL: 'debug', ...environment },
  );
  await service.untilReady();
  const admin = connectChannel(ImagesAdminServiceClient, service.adminTarget, channelAs('bds', 'images'));
  const options = { deadlineMs: 20_000, operatorToken: OPERATOR_TOKEN };
  const url = `http://${service.target}`;
  const put = (request: Partial<PutImageRequest>) =>
    callUnary(admin, admin.putImage, PutImageRequest.fromPartial(request), options);
  const sweep = (messages: AsyncIterable<SweepImagesRequest>) =>
    callClientStream(admin, admin.sweepImages, messages, options);
  const ended = async <Status>(service: Promise<Status>): Promise<Status> => {
    admin.close();
    const status = await service;
    await nats.stop();
    return status;
  };
  return {
    ...service,
    url,
    logoHost: `${url}/images`,
    put,
    putLogo: async (file, darkFile) => {
      const light = { $case: 'file' as const, value: Buffer.from(file) };
      const dark = darkFile ? { darkFile: Buffer.from(darkFile) } : {};
      const { big, small } = await put({ kind: ImageKind.LOGO, light, ...dark });
      if (!big || !small) throw new Error('the answer has no images');
      return { big, small };
    },
    sweep: (messages) => sweep(Readable.from(messages)),
    breakOffSweep: async (messages) => {
      const brokenOff = async function* () {
        yield* messages;
        throw new Error('broken off');
      };
      await sweep(brokenOff()).catch(() => {});
    },
    metrics: async () => (await fetch(`${service.opsUrl}/metrics`)).text(),
    stop: () => ended(service.stop()),
    kill: () => ended(service.kill()),
  };
}
