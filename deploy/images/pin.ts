/**
 * `node deploy/images/pin.ts [FILE]` asks the registry for the digest of the base image's tag and writes it into the Dockerfile,
 * or FILE. A release is built from that digest, whatever the tag names later. Needs a registry that answers.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { digestOf } from './image-digest.ts';

const BASE = /^ARG NODE_IMAGE=([^@\s]+)(@sha256:[0-9a-f]{64})?$/m;

const [file = join(import.meta.dirname, 'Dockerfile')] = process.argv.slice(2);
const text = await readFile(file, 'utf8');
const [line, image = ''] = BASE.exec(text) ?? [];
if (line === undefined) throw new Error(`${file} has no line ARG NODE_IMAGE=…`);
const pinned = `${image}@${await digestOf(image)}`;
await writeFile(file, text.replace(BASE, `ARG NODE_IMAGE=${pinned}`));
process.stdout.write(`${pinned}\n`);
