import type {
  CatalogAdminServiceServer,
  ExportedCompany,
  RestoreCompaniesRequest,
  RestoreCompaniesResponse,
} from '@brand-data/contracts';
import { Fault, type Service, serverStream } from '@brand-data/runtime';
import type { AdminParts, OperatorCallContext } from './admin-parts.ts';
import { refuseBadRunId, refuseLargeBatch } from './batches.ts';
import { ANSWER_DEADLINE_MS, withDeadline } from './deadline.ts';
import { docFromExported, exportedCompanies } from './exported-companies.ts';
import { recorded } from './recorded.ts';

/** Returns the calls that export the catalogue, and store an export again. */
export function exportCalls(
  service: Service,
  parts: AdminParts,
): Pick<CatalogAdminServiceServer, 'exportCompanies' | 'restoreCompanies'> {
  return {
    exportCompanies: serverStream(service, ({ after }, signal) =>
      exportedCompanies(parts.store.scan(after, signal)),
    ),
    restoreCompanies: withDeadline(service, ANSWER_DEADLINE_MS, (request, call) =>
      restoreCompanies(parts, request, call),
    ),
  };
}

async function restoreCompanies(
  { restore, announcer, trail }: AdminParts,
  { companies, newestImports, restoreId, ...range }: RestoreCompaniesRequest,
  { metadata }: OperatorCallContext,
): Promise<RestoreCompaniesResponse> {
  const { after, isLast, dryRun } = range;
  refuseLargeBatch(companies);
  refuseUnsorted(companies, after);
  refuseBadRunId('a restore', restoreId);
  const read = companies.map(docFromExported);
  const docs = read.flatMap((each) => ('doc' in each ? [each.doc] : []));
  const refused = read.flatMap((each, index) => ('refused' in each ? [{ index, reason: each.refused }] : []));
  const outcome = await recorded(
    trail,
    metadata,
    { method: 'RestoreCompanies', about: [], details: {}, sharedBy: restoreId, dryRun },
    () => restore(docs, { ...range, newestImports: new Map(Object.entries(newestImports)) }),
    ({ restored, unchanged }) => ({ restored, unchanged, refused: refused.length }),
  );
  if (isLast && !dryRun) await announcer.confirm();
  return { ...outcome, refused };
}

/** MongoDB compares ids by their bytes, and so must this. */
function refuseUnsorted(companies: readonly ExportedCompany[], after: string): void {
  let last = Buffer.from(after);
  for (const company of companies) {
    const id = Buffer.from(company.id);
    if (Buffer.compare(last, id) >= 0)
      throw new Fault('invalid_argument', 'the companies of an export must be in the order of their ids');
    last = id;
  }
}
