import {
  type Image,
  ImageKind,
  ImagesAdminServiceClient,
  PutImageRequest,
  type PutImageResponse,
  type SweepImagesRequest,
  type SweepImagesResponse,
} from '@brand-data/contracts';
import { callUnary, connectChannel } from '@brand-data/runtime';
import { channelAs } from '@brand-data/runtime/test/channel-as.ts';
import { createAuditStream } from '@brand-data/testing/audit-stream';
import { launchService, type RunningService } from '@brand-data/testing/running-service';
import { startTestNats } from '@brand-data/testing/servers';
import { Metadata } from '@grpc/grpc-js';

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
  const url = `http://${service.target}`;
  const put = (request: Partial<PutImageRequest>) =>
    callUnary(admin, admin.putImage, PutImageRequest.fromPartial(request), {
      deadlineMs: 20_000,
      operatorToken: OPERATOR_TOKEN,
    });
  const beginSweep = (messages: SweepImagesRequest[]) => {
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${OPERATOR_TOKEN}`);
    const answer = Promise.withResolvers<SweepImagesResponse>();
    const call = admin.sweepImages(metadata, { deadline: Date.now() + 20_000 }, (error, response) =>
      error ? answer.reject(error) : answer.resolve(response),
    );
    for (const message of messages) call.write(message);
    return { call, answer: answer.promise };
  };
  const metrics = async () => (await fetch(`${service.opsUrl}/metrics`)).text();
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
    sweep: (messages) => {
      const { call, answer } = beginSweep(messages);
      call.end();
      return answer;
    },
    breakOffSweep: async (messages) => {
      const { call, answer } = beginSweep(messages);
      call.cancel();
      await answer.catch(() => {});
    },
    metrics,
    stop: async () => {
      admin.close();
      const status = await service.stop();
      await nats.stop();
      return status;
    },
    kill: async () => {
      admin.close();
      await service.kill();
      await nats.stop();
    },
  };
}
