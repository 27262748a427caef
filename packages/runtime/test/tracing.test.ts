import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { freePort } from '@brand-data/servers';
import { expect, test } from 'vitest';

/** Returns the OpenTelemetry packages that a service has loaded. */
async function loadedBy(settings: Record<string, string>): Promise<string[]> {
  const environment = {
    LOG_LEVEL: 'silent',
    HOST: '127.0.0.1',
    OPS_PORT: `${await freePort()}`,
    ...settings,
  };
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = new Set();
    registerHooks({
      resolve(specifier, context, next) {
        const [, name] = /^(@opentelemetry\\/[^/]+)/.exec(specifier) ?? [];
        if (name) loaded.add(name);
        return next(specifier, context);
      },
    });
    const { runService } = await import('${new URL('../src/index.ts', import.meta.url)}');
    await runService('test', {}, async () => {});
    console.log(JSON.stringify([...loaded]));
    process.kill(process.pid, 'SIGTERM');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  expect(code).toBe(0);
  return JSON.parse(output);
}

test('without a collector nothing of OpenTelemetry is loaded but what the metrics library brings', async () => {
  expect(await loadedBy({})).toEqual(['@opentelemetry/api']);
  const traced = await loadedBy({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' });
  expect(traced).toContain('@opentelemetry/sdk-trace');
});
