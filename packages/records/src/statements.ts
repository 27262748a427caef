import type { Source } from '@brand-data/contracts';

/**
 * Returns the source statement that names the field or a group around it, else the statement that names no fields and covers the
 * rest.
 */
export function statementFor(field: string, stated: readonly Source[]): Source | undefined {
  return (
    nearest(field, (path) => stated.find(({ fields }) => fields.includes(path))) ??
    stated.find(({ fields }) => fields.length === 0)
  );
}

/** Looks up the field's dotted name, then the groups around the field, the innermost first. */
export function nearest<T>(field: string, find: (path: string) => T | undefined): T | undefined {
  const end = field.lastIndexOf('.');
  return find(field) ?? (end < 0 ? undefined : nearest(field.slice(0, end), find));
}
