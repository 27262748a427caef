import { freePort, importCatalogue, startLogoHost } from '@brand-data/local';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { temporaryFolder } from '../stack/temporary-folder.ts';

export interface SampleStack extends TestStack {
  /** The base URL of images. It serves the images that the import wrote. */
  logoHost: string;
}

/** Starts what `npm start` starts, without the demo accounts: one gateway, the sample catalogue with images, and a logo host. */
export async function startSampleStack(): Promise<SampleStack> {
  const imagesDir = await temporaryFolder();
  const logos = await startLogoHost({ folder: imagesDir, port: await freePort() });
  const stack = await startTestStack({ gateways: 1, logoHost: logos.url }).catch(async (error) => {
    await logos.stop();
    throw error;
  });
  const stop = async () => {
    await stack.stop();
    await logos.stop();
  };
  try {
    await importCatalogue(imagesDir, stack.bds, (refusal) => {
      throw new Error(refusal);
    });
    return { ...stack, logoHost: logos.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
