import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const ALERTS = join(import.meta.dirname, '../../deploy/chart/files/alerts');

export interface Rule {
  record?: string;
  alert?: string;
  expr: string;
  for?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

/** Reads all rules that the chart installs. */
export function readRules(): Rule[] {
  return ruleFiles().flatMap((path) => {
    const { groups } = parse(readFileSync(path, 'utf8')) as { groups: { rules: Rule[] }[] };
    return groups.flatMap(({ rules }) => rules);
  });
}

export function ruleFiles(): string[] {
  return readdirSync(ALERTS).map((name) => join(ALERTS, name));
}

/**
 * Returns the metrics that an expression reads, with the suffixes of histograms removed. The name of each of our metrics has an
 * underscore.
 */
export function metricsOf(expr: string): string[] {
  const bare = expr
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]/g, '')
    .replaceAll(/\b(by|on|without|ignoring|group_left|group_right)\s*\([^)]*\)/g, '');
  const names = [...bare.matchAll(/[a-zA-Z_:][\w:]*(?!\w|\s*\()/g)].map(([name]) => name);
  return [...new Set(names.filter((name) => /[_:]/.test(name)))].map((name) =>
    name.replace(/_(bucket|sum|count)$/, ''),
  );
}
