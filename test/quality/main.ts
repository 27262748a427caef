/** `npm run quality`, `npm run generated` and `npm run costs`. The first argument names the run. */
import { parseArgs } from 'node:util';

const RUNS = {
  quality: () => import('./real-data.ts'),
  generated: () => import('./generated/generated.ts'),
  costs: () => import('./costs/costs.ts'),
};

const [name, ...args] = process.argv.slice(2);
const { USAGE, OPTIONS, run } = await RUNS[name as keyof typeof RUNS]();
const { help, ...values } = parseArgs({
  args,
  options: { ...OPTIONS, help: { type: 'boolean', default: false } },
}).values;
if (help) console.log(USAGE);
else await run(values as Record<string, string | undefined>);
