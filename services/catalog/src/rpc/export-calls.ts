import type {
  CatalogAdminServiceServer,
  ExportedCompany,
  RestoreCompaniesRequest,
  RestoreCompaniesResponse,
} from '@brand-data/contracts';
import { type CallMetadata, Fault, type Service, serverStream, type Trail } from '@brand-data/runtime';
import type { Announcer } from '../storage/announcer.ts';
import type { Restore } from '../storage/restore.ts';
import type { CatalogStore } from '../storage/store.ts';
import { refuseBadRunId, refuseLargeBatch } from './batches.ts';
import { ANSWER_DEADLINE_MS, withDeadline } from './deadline.ts';
import { docFromExported, exportedCompanies } from './exported-companies.ts';
import { recorded } from './recorded.ts';

interface Parts {
  store: Pick<CatalogStore, 'scan'>;
  restore: Restore;
  announcer: Pick<Announcer, 'confirm'>;
  trail: Trail;
}

/** Returns the calls that export the catalogue, and store an export again. */
export function exportCalls(
  service: Service,
  parts: Parts,
): Pick<CatalogAdminServiceServer, 'exportCompanies' | 'restoreCompanies'> {
  return {
    exportCompanies: serverStream(service, ({ after }, signal) =>
      exportedCompanies(parts.store.scan(after, signal)),
    ),
    restoreCompanies: withDeadline(service, ANSWER_DEADLINE_MS, (request, _signal, metadata) =>
      restoreCompanies(parts, request, metadata),
    ),
  };
}

async function restoreCompanies(
  { restore, announcer, trail }: Parts,
  { companies, newestImports, restoreId, ...range }: RestoreCompaniesRequest,
  metadata: CallMetadata,
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
