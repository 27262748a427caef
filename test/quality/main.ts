/** `npm run quality`, `npm run quality -- peers`, `npm run generated` and `npm run costs`. The first arguments name the run. */
import { parseArgs } from 'node:util';

const RUNS = {
  quality: () => import('./real-data.ts'),
  peers: () => import('./peers/peers.ts'),
  generated: () => import('./generated/generated.ts'),
  costs: () => import('./costs/costs.ts'),
};

const args = process.argv.slice(2);
const name = args[1] === 'peers' ? args.splice(0, 2)[1] : args.shift();
const { USAGE, OPTIONS, run } = await RUNS[name as keyof typeof RUNS]();
const { help, ...values } = parseArgs({
  args,
  options: { ...OPTIONS, help: { type: 'boolean', default: false } },
}).values;
if (help) console.log(USAGE);
else await run(values as Record<string, string | undefined>);
