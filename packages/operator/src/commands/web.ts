import { once } from 'node:events';
import { Command, InvalidArgumentError } from 'commander';
import { openConnection } from '../connection.ts';
import type { Context } from '../context.ts';

interface WebOptions {
  host: string;
  port: number;
  behindHttps?: boolean;
}

export function webCommand({ settings, output, interruption }: Context): Command {
  return new Command('web')
    .description(
      "Serve pages of accounts' usage by month, day and key, for operators who sign in with their credentials",
    )
    .option('--host <address>', 'listen on this address', '127.0.0.1')
    .option('--port <port>', 'listen on this port (0: any free one)', readPort, 8090)
    .option('--behind-https', 'browsers reach the pages by https, so cookies are sent by nothing else')
    .addHelpText(
      'after',
      '\nWhoever opens the pages signs in with an operator credential of any role. bds itself needs none for this.' +
        '\nCtrl-C ends the server.',
    )
    .action(async ({ host, port, behindHttps = false }: WebOptions) => {
      // The other commands start sooner without the server's code.
      const { createWeb } = await import('../web/server.ts');
      const addresses = settings();
      const stop = interruption();
      const web = createWeb({
        connectAs: (credential) => openConnection({ ...addresses, operatorToken: credential }),
        isBehindHttps: behindHttps,
        say: (line) => output.text(line),
      });
      try {
        output.text(`The pages are at ${await web.listen({ host, port })}`);
        if (!stop.aborted) await once(stop, 'abort');
      } finally {
        await web.close();
      }
    });
}

function readPort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError('Write a number from 0 to 65535.');
  return port;
}
