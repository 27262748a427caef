import { importCatalogue } from '@brand-data/local';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { temporaryFolder } from '../stack/temporary-folder.ts';

export interface SampleStack extends TestStack {
  /** The base URL of images in records, where the service images answers. */
  logoHost: string;
}

/** Starts what `npm start` starts, without the demo accounts: one gateway, and the sample catalogue with its images. */
export async function startSampleStack(): Promise<SampleStack> {
  const stack = await startTestStack({ gateways: 1 });
  try {
    await importCatalogue(await temporaryFolder(), stack.bds, (refusal) => {
      throw new Error(refusal);
    });
    return { ...stack, logoHost: stack.images[0]?.url ?? '' };
  } catch (error) {
    await stack.stop();
    throw error;
  }
}
