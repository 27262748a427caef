import { Command, InvalidArgumentError } from 'commander';
import { UsageError } from '../../connection/usage-error.ts';
import type { Context } from '../../terminal/context.ts';
import { serveUsagePage } from '../../usage-page/server.ts';

/** The port that the chart uses too, unless another is given. */
const USAGE_PAGE_PORT = 8190;

export function usagePageCommand(context: Context): Command {
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
    .action(async ({ port, allAddresses }: { port: number; allAddresses?: boolean }) => {
      const { connectAs, output, interruption, onDefect } = context;
      const stopped = interruption();
      const page = await serveUsagePage({ port, allAddresses, connectAs, onDefect }).catch(
        (error: NodeJS.ErrnoException) => {
          if (error.code !== 'EADDRINUSE') throw error;
          throw new UsageError(`port ${port} of 127.0.0.1 is taken: give another one with --port`);
        },
      );
      output.answer({ url: page.url }, () => `The page of accounts' usage: ${page.url}`);
      if (!stopped.aborted)
        await new Promise((resolve) => stopped.addEventListener('abort', resolve, { once: true }));
      await page.stop();
    });
}

function readPort(value: string): number {
  const port = Number(value);
  if (!/^\d{1,5}$/.test(value) || port > 65_535)
    throw new InvalidArgumentError('Write a port from 0 to 65535.');
  return port;
}
