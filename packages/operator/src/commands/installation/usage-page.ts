import { once } from 'node:events';
import { Command } from '@commander-js/extra-typings';
import { UsageError } from '../../connection/failures.ts';
import { wholeNumber } from '../../options/readers.ts';
import type { Context } from '../../terminal/context.ts';
import { serveUsagePage } from '../../usage-page/server.ts';

/** The port that the chart uses too, unless another is given. */
const USAGE_PAGE_PORT = 8190;
const readPort = wholeNumber('Write a port from 0 to 65535.', 0, 65_535);

export function usagePageCommand(context: Context) {
  return new Command('usage-page')
    .description("Serve a page of accounts' usage on this machine, for operators' browsers, until Ctrl-C")
    .option('--port <port>', 'listen on this port of 127.0.0.1; 0: any free one', readPort, USAGE_PAGE_PORT)
    .option(
      '--all-addresses',
      "listen on all addresses: only in a container whose port is published on its machine's 127.0.0.1",
    )
    .addHelpText(
      'after',
      '\nThe page asks for the credential of a named operator, as the password; the name may be anything.' +
        '\nIt reads all data with this credential, and never with that of the command.',
    )
    .action(async ({ port, allAddresses }) => {
      const { connectAs, output, interruption, onDefect } = context;
      const stopped = interruption();
      const page = await serveUsagePage({ port, allAddresses, connectAs, onDefect }).catch(
        (error: NodeJS.ErrnoException) => {
          if (error.code !== 'EADDRINUSE') throw error;
          throw new UsageError(`port ${port} of 127.0.0.1 is taken: give another one with --port`);
        },
      );
      output.answer({ url: page.url }, () => `The page of accounts' usage: ${page.url}`);
      if (!stopped.aborted) await once(stopped, 'abort');
      await page.stop();
    });
}
