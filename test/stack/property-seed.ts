import { env } from 'node:process';

// Makes properties try the same cases in each run of one commit: `.ci/run` sets this seed. Without it, each run tries other cases.
if (env.PROPERTY_SEED) {
  const { default: fc } = await import('fast-check');
  fc.configureGlobal({ seed: Number(env.PROPERTY_SEED) });
}
