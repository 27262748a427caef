import type { Call } from './call.ts';
import { keptText } from './storage.ts';

/** What the visitor asks for, without the token. */
export type Question = Pick<Call, 'identifier' | 'form'>;

/** The most questions that the browser keeps. */
const MOST = 8;
/** Somebody may paste a token into the wrong field. It must not get into the page's URL or the history. */
const TOKEN = /pk_\w{8}/;
const kept = keptText('brand-data-asked');

/** Returns the query of the page's URL that asks this. undefined if the URL must not hold it. */
export function queryOf({ identifier, form }: Question): string | undefined {
  if (TOKEN.test(identifier)) return undefined;
  return new URLSearchParams({ identifier, ...(form === 'flat' && { record: form }) }).toString();
}

export function questionIn(query: string): Question {
  const parameters = new URLSearchParams(query);
  return {
    identifier: parameters.get('identifier') ?? '',
    form: parameters.get('record') === 'flat' ? 'flat' : 'grouped',
  };
}

/** The queries of what was asked before, the newest first. Only this browser has them. */
export const asked = {
  list: (): string[] => kept.read().split('\n').filter(Boolean),
  add(query: string): void {
    const older = asked.list().filter((each) => each !== query);
    kept.write([query, ...older].slice(0, MOST).join('\n'));
  },
  clear: (): void => kept.forget(),
};
