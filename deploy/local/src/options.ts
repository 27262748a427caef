import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Problem } from '@brand-data/servers';

export const USAGE = `npm start -- [options]

  --gateways N   how many gateways to start, 1 to 8 (default 1)
  --port PORT    the first gateway's port; the others take the next ones (default 8080)
  --data DIR     where data, logs and tokens are kept (default .local)
  --mcp          serve /mcp, for assistants that look records up
  --watch        restart a service when its sources change, as \`npm run dev\` does
  --inspect      let a debugger attach to each service, from port 9229 on
  --help         this text

If MONGODB_URL or NATS_URL is set in the environment, that server is used instead of a new one.
`;

/**
 * Parses the command line. A relative `--data` is relative to `cwd`, and `dataDir` is absolute. Throws a Problem if the command
 * line is wrong.
 */
export function parseOptions(args: string[], { root, cwd }: { root: string; cwd: string }) {
  const { gateways, port, data, ...flags } = parse(args);
  const options = {
    ...flags,
    gateways: wholeNumber('--gateways', gateways, 1, 8),
    port: wholeNumber('--port', port, 1, 65_535),
    dataDir: data === undefined ? resolve(root, '.local') : resolve(cwd, data),
  };
  if (options.port + options.gateways - 1 > 65_535)
    throw new Problem('--port: too high for that many gateways.');
  if (data === '') throw new Problem('--data: name a folder.');
  return options;
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        gateways: { type: 'string', default: '1' },
        port: { type: 'string', default: '8080' },
        data: { type: 'string' },
        help: { type: 'boolean', default: false },
        mcp: { type: 'boolean', default: false },
        watch: { type: 'boolean', default: false },
        inspect: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    const what = (error as Error).message.split(/\.\s/)[0];
    throw new Problem(`${what}. See: npm start -- --help`);
  }
}

function wholeNumber(name: string, text: string, from: number, to: number): number {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= from && value <= to) return value;
  throw new Problem(`${name}: give a whole number from ${from} to ${to}, not "${text}".`);
}
