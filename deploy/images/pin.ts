/**
 * `node deploy/images/pin.ts [FILE]` asks the registry for the digest of the base image's tag and writes it into the Dockerfile,
 * or FILE. A release is built from that digest, whatever the tag names later.
 *
 * `node deploy/images/pin.ts --print IMAGE…` writes no file. It prints each image with the digest of its tag, one a line.
 *
 * Both need a registry that answers.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { digestOf } from './image-digest.ts';

const BASE = /^ARG NODE_IMAGE=([^@\s]+)(@sha256:[0-9a-f]{64})?$/m;

const pinned = async (image: string) => `${image}@${await digestOf(image)}`;

async function pinBaseImage(file = join(import.meta.dirname, 'Dockerfile')): Promise<string[]> {
  const text = await readFile(file, 'utf8');
  const [line, image = ''] = BASE.exec(text) ?? [];
  if (line === undefined) throw new Error(`${file} has no line ARG NODE_IMAGE=…`);
  const base = await pinned(image);
  await writeFile(file, text.replace(BASE, `ARG NODE_IMAGE=${base}`));
  return [base];
}

const [first, ...images] = process.argv.slice(2);
const lines = first === '--print' ? await Promise.all(images.map(pinned)) : await pinBaseImage(first);
process.stdout.write(lines.map((line) => `${line}\n`).join(''));
