const LONGEST_DETAIL = 1_000;

/** The details that the audit trail stores about a change. They never hold a secret. */
export interface AuditDetails {
  /** The ids and names that the change is about, by which people look for it. */
  about: readonly string[];
  /** The request's fields that are worth auditing, and the values that they replaced. */
  details: Readonly<Record<string, string | undefined>>;
}

/** Returns the details as the trail stores them: without those that are empty, and long ones shortened. */
export function auditDetails(details: AuditDetails['details']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(details).flatMap(([name, value]) => (value ? [[name, auditDetail(value)]] : [])),
  );
}

/** Shortens a detail that is too long for the trail. */
export function auditDetail(value: string): string {
  return value.length <= LONGEST_DETAIL ? value : `${value.slice(0, LONGEST_DETAIL - 1)}…`;
}
