import { execFile, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import sharp from 'sharp';

/** Chromium, from the variable CHROMIUM or the PATH. undefined: tests that need a browser are skipped. */
export const chromium = [process.env.CHROMIUM ?? '', 'chromium', 'chromium-browser', 'google-chrome'].find(
  (program) => program !== '' && spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0,
);
if (chromium === undefined)
  process.stderr.write(
    '\nSKIPPED: tests of logos and of the elements in a browser: Debian\'s package "chromium" has one, and the variable CHROMIUM may name it\n',
  );

/** Pixels of a page as the browser painted them: red, green and blue, one byte each, row by row. */
export interface Screenshot {
  data: Uint8Array;
  width: number;
  height: number;
}

/**
 * Opens the page in Chromium, waits until all its images are loaded, and returns what it shows. Keeps `name`.html and `name`.png in
 * the folder, so that a person can look at them.
 *
 * @param options.width of the page, in its own pixels; the screenshot has `scale` as many in each direction
 */
export async function takeScreenshot(
  html: string,
  {
    folder,
    name,
    width,
    height,
    scale,
  }: { folder: string; name: string; width: number; height: number; scale: number },
): Promise<Screenshot> {
  const [page, picture] = [join(folder, `${name}.html`), join(folder, `${name}.png`)];
  await writeFile(page, html);
  const options = [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--hide-scrollbars',
    '--force-color-profile=srgb',
    `--user-data-dir=${join(folder, 'profile')}`,
    `--window-size=${width},${height}`,
    `--force-device-scale-factor=${scale}`,
    `--screenshot=${picture}`,
    pathToFileURL(page).href,
  ];
  await promisify(execFile)(chromium ?? '', options, { timeout: 60_000, killSignal: 'SIGKILL' });
  const pixels = sharp(await readFile(picture)).removeAlpha();
  const { data, info } = await pixels.raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}
