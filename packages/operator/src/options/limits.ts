import type { CallLimits, Rate } from '@brand-data/contracts';
import { InvalidArgumentError } from 'commander';

/** Values of the options --rate and --concurrency. */
export interface LimitOptions {
  rate?: Rate;
  concurrency?: number;
}

export const RATE_OPTION = '--rate <per-second[:burst]>';
export const CONCURRENCY_OPTION = '--concurrency <calls>';

/** Reads "50" or "50:100". Without a burst, as many calls may come at once as in a second. */
export function readRate(value: string): Rate {
  const [, perSecond, burst = perSecond] = /^(\d{1,7})(?::(\d{1,7}))?$/.exec(value) ?? [];
  if (perSecond === undefined)
    throw new InvalidArgumentError('Write calls a second, and a burst if it differs: 50 or 50:100.');
  return { perSecond: Number(perSecond), burst: Number(burst) };
}

export function readConcurrency(value: string): number {
  if (!/^\d{1,7}$/.test(value)) throw new InvalidArgumentError('Write a number of calls.');
  return Number(value);
}

export function limitsOf({ rate, concurrency }: LimitOptions): CallLimits | undefined {
  return rate === undefined && concurrency === undefined ? undefined : { rate, concurrency };
}

export function limitsToJson(limits: CallLimits | undefined) {
  const { rate, concurrency } = limits ?? {};
  return {
    rate: rate ? { per_second: rate.perSecond, burst: rate.burst } : null,
    concurrency: concurrency ?? null,
  };
}

/** "50 a second, 100 at once; 20 under way", or an empty text. */
export function limitsText(limits: CallLimits | undefined): string {
  const { rate, concurrency } = limits ?? {};
  return [
    ...(rate ? [`${rate.perSecond} a second, ${rate.burst} at once`] : []),
    ...(concurrency === undefined ? [] : [`${concurrency} under way`]),
  ].join('; ');
}
