import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from './browser.ts';

/** A page in Chromium that a test can look into. */
export type Page = Awaited<ReturnType<typeof newPage>>;

export type Browser = Awaited<ReturnType<typeof startBrowser>>;

interface Look {
  theme: 'light' | 'dark';
  width: number;
  /** By default 800. */
  height?: number;
  /** Pixels of the screenshot for one of the page. By default one. */
  scale?: number;
}

/** The keys that pages handle, with the codes that Windows has for them. */
const KEY_CODES = {
  Tab: 9,
  Enter: 13,
  Escape: 27,
  End: 35,
  ArrowUp: 38,
  ArrowDown: 40,
};

/** How long Chromium may take for one command, in milliseconds. A busy machine needs many seconds to look through the page of the reference. */
const COMMAND_MS = 300_000;

/** @param folder for the browser's files */
export async function startBrowser(folder: string) {
  const child = spawn(
    chromium ?? '',
    [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--remote-debugging-port=0',
      '--disable-background-networking',
      '--force-color-profile=srgb',
      `--user-data-dir=${join(folder, 'profile')}`,
      'about:blank',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const exit = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGKILL');
    await exit;
  };
  try {
    const send = await connect(await debuggingUrl(createInterface(child.stderr)));
    return { stop, newPage: () => newPage(send) };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function debuggingUrl(lines: AsyncIterable<string>): Promise<string> {
  for await (const line of lines) {
    const [, url] = /^DevTools listening on (ws:.*)$/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error('Chromium ended before it listened');
}

// biome-ignore lint/suspicious/noExplicitAny: results have a shape for each command of the DevTools protocol.
type Send = (method: string, params?: object, sessionId?: string) => Promise<any>;

/** Speaks the Chrome DevTools Protocol. */
async function connect(url: string): Promise<Send> {
  const socket = new WebSocket(url);
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  socket.addEventListener('message', ({ data }) => {
    const { id, result, error } = JSON.parse(data);
    if (error === undefined) waiting.get(id)?.resolve(result);
    else waiting.get(id)?.reject(new Error(error.message));
    waiting.delete(id);
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error('Chromium refused the connection')));
  });
  let lastId = 0;
  return (method, params = {}, sessionId) => {
    const id = ++lastId;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(id, answer);
    socket.send(JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) }));
    const timer = setTimeout(() => answer.reject(new Error(`Chromium did not answer ${method}`)), COMMAND_MS);
    return answer.promise.finally(() => clearTimeout(timer));
  };
}

async function newPage(send: Send) {
  const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
  // A browser gives its clipboard only to pages that have the focus and a permission.
  await send('Browser.grantPermissions', { permissions: ['clipboardReadWrite', 'clipboardSanitizedWrite'] });
  await send('Emulation.setFocusEmulationEnabled', { enabled: true }, sessionId);
  const evaluate = async <T>(expression: string): Promise<T> => {
    const options = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await send('Runtime.evaluate', options, sessionId);
    if (exceptionDetails !== undefined)
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  const setTheme = (theme: 'light' | 'dark') =>
    send(
      'Emulation.setEmulatedMedia',
      { features: [{ name: 'prefers-color-scheme', value: theme }] },
      sessionId,
    );
  return {
    /** Evaluates the expression in the page, waits for its promise, and resolves to its JSON value. */
    evaluate,
    /** Shows the page in this theme and width, in CSS pixels. */
    async show({ theme, width, height = 800, scale = 1 }: Look) {
      await setTheme(theme);
      const metrics = { width, height, deviceScaleFactor: scale, mobile: false };
      await send('Emulation.setDeviceMetricsOverride', metrics, sessionId);
      await evaluate(
        'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))',
      );
    },
    /** Presses the key, and does what the browser does for it: Tab goes on to the next element, Enter sends a form. */
    async press(key: keyof typeof KEY_CODES) {
      const event = { key, code: key, windowsVirtualKeyCode: KEY_CODES[key] };
      const text = key === 'Enter' ? { text: '\r' } : {};
      await send('Input.dispatchKeyEvent', { type: 'keyDown', ...event, ...text }, sessionId);
      await send('Input.dispatchKeyEvent', { type: 'keyUp', ...event }, sessionId);
    },
    /** Clicks on the middle of the first element that the selector finds, as a mouse does. */
    async clickOn(selector: string) {
      const middle = await evaluate<{ x: number; y: number }>(
        `(({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 }))(document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect())`,
      );
      for (const type of ['mousePressed', 'mouseReleased'])
        await send('Input.dispatchMouseEvent', { type, ...middle, button: 'left', clickCount: 1 }, sessionId);
    },
    /** Puts the text where the cursor is, as a keyboard does. */
    async type(text: string) {
      await send('Input.insertText', { text }, sessionId);
    },
    /** Resolves to what the page shows. */
    async screenshot(format: 'webp' | 'png' = 'webp') {
      const { data } = await send('Page.captureScreenshot', { format, quality: 80 }, sessionId);
      return Buffer.from(data, 'base64');
    },
    /** Runs the script in every page that is opened from now on, before the page's own scripts. */
    async beforeEachPage(source: string) {
      await send('Page.enable', {}, sessionId);
      await send('Page.addScriptToEvaluateOnNewDocument', { source }, sessionId);
    },
    /** Opens the URL and waits until it is loaded. */
    async open(url: string, { theme = 'light' }: { theme?: 'light' | 'dark' } = {}) {
      await setTheme(theme);
      // A full history forgets entries, and Back would lead elsewhere. Fifty fill it.
      await send('Page.resetNavigationHistory', {}, sessionId);
      const { errorText } = await send('Page.navigate', { url }, sessionId);
      if (errorText !== undefined) throw new Error(`${url}: ${errorText}`);
      await evaluate(
        `new Promise((done) => document.readyState === 'complete' ? done() : addEventListener('load', () => done()))`,
      );
    },
  };
}
