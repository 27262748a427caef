import { monthOf } from '@brand-data/contracts';
import type { AllowanceUse } from './allowance-use.ts';

export function isCurrent(month: string): boolean {
  return month === monthOf(Date.now());
}

export const USE_HEADERS = ['ALLOWANCE', 'USED', 'REMAINING', 'HELD BY GATEWAYS'] as const;

export function useCells({ allowance, used, remaining, held_by_gateways }: AllowanceUse): number[] {
  return [allowance, used, remaining, held_by_gateways];
}

export const MAY_BE_TOO_SMALL =
  'Metering could not read all usage, so these figures may be too small. No usage is lost: repeat the command when NATS and metering work again.';
