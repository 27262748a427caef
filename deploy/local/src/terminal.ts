import { resolve } from 'node:path';
import { DEMO_ACCOUNTS, type Demo } from './demo.ts';

/** Shows the user the progress of a command. */
export interface Terminal {
  /** Writes a line that stays. */
  say(line: string): void;
  /** Runs `work`, shows the seconds that it has taken so far, and then writes how long it took. */
  step<T>(what: string, work: () => Promise<T>): Promise<T>;
}

/** On a terminal, overwrites one line while a step runs. If the output is a file, writes only whole lines. */
export function terminalOn(output: NodeJS.WriteStream): Terminal {
  // If the user closes the terminal, writing fails. The process must still stop everything in order.
  output.on('error', () => {});
  let underWay = '';
  const show = (text: string) => {
    if (output.isTTY) output.write(`\r\x1b[K${text}`);
  };
  const say = (line: string) => {
    show('');
    output.write(`${line}\n`);
    show(underWay);
  };
  return {
    say,
    async step(what, work) {
      const startedAt = performance.now();
      const seconds = (digits: number) => ((performance.now() - startedAt) / 1_000).toFixed(digits);
      if (!output.isTTY) output.write(`${what} …\n`);
      const renew = () => {
        underWay = `${what} … ${seconds(0)} s`;
        show(underWay);
      };
      renew();
      const clock = setInterval(renew, 1_000);
      try {
        const result = await work();
        underWay = '';
        say(`${what}: done in ${seconds(1)} s`);
        return result;
      } finally {
        clearInterval(clock);
        underWay = '';
        show('');
      }
    },
  };
}

/** Returns the last lines of `npm start`: the tokens, and commands to paste. */
export function closingText(demo: Demo, dataDir: string, usagePage: string): string {
  // bds finds only the stack of the default folder by itself.
  const isDefault = resolve(dataDir) === resolve(import.meta.dirname, '../../../.local');
  const bds = `${isDefault ? '' : `BDS_STACK='${dataDir}/operator.json' `}npm run bds`;
  const [first = '', ...others] = demo.gateways;
  const { paid, free, small } = demo.tokens;
  const monthly = (kind: keyof typeof DEMO_ACCOUNTS) =>
    `${DEMO_ACCOUNTS[kind].allowance.toLocaleString('en')} calls a month`;
  return `
The Brand Data Service is up: ${first}${others.map((url) => ` and ${url}`).join('')}

  token of a paid account (${monthly('paid')})               ${paid}
  token of a free account (${monthly('free')}, logos only)     ${free}
  token of a small account (${monthly('small')})                   ${small}

Try:
  curl -i '${first}/v1/brands/AAPL?token=${paid}'
  curl -i '${first}/v1/brands/mcdonalds.com?token=${paid}'
  curl -i '${first}/api/logos/figma/info?token=${free}'
  curl -i '${first}/v1/brands/figma?token=${free}'    # 403: a free plan has no Brand API
  for n in 1 2 3 4 5 6; do curl -s -o /dev/null -w '%{http_code}\\n' '${first}/v1/brands/AAPL?token=${small}'; done
  curl -s '${first}/v1/usage?token=${small}'

The usage of accounts in a browser: ${usagePage}
  ${bds} -- operator create me --role read    # its secret is the password of the page, with any name

The same for scripts: ${dataDir}/demo.json. Logs: ${dataDir}/logs. The operator's commands: ${bds} -- --help
Ctrl-C stops everything; the data stays.
`;
}
