import { spawnSync } from 'node:child_process';

/** Chromium, from the variable CHROMIUM or the PATH. undefined: tests that need a browser are skipped. */
export const chromium = [process.env.CHROMIUM ?? '', 'chromium', 'chromium-browser', 'google-chrome'].find(
  (program) => program !== '' && spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0,
);
if (chromium === undefined)
  process.stderr.write(
    '\nSKIPPED: tests of logos and of the elements in a browser: Debian\'s package "chromium" has one, and the variable CHROMIUM may name it\n',
  );
