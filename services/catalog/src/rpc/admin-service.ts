import type { CatalogAdminServiceServer } from '@brand-data/contracts';
import type { Service, Trail } from '@brand-data/runtime';
import type { FindCandidates } from '../lookup/candidates.ts';
import type { Suggest } from '../lookup/suggestions.ts';
import type { Announcer } from '../storage/announcer.ts';
import type { Restore } from '../storage/restore.ts';
import type { CatalogStore } from '../storage/store.ts';
import { exportCalls } from './export-calls.ts';
import { importCalls } from './import-calls.ts';
import { listCalls } from './list-calls.ts';
import { overrideCalls } from './override-calls.ts';
import { recordCalls } from './record-calls.ts';

/** Returns the calls of operators: see proto/brand_data/v1/catalog.proto for shapes and errors. */
export function catalogAdminService(
  service: Service,
  parts: {
    findCandidates: FindCandidates;
    suggest: Suggest;
    store: CatalogStore;
    restore: Restore;
    announcer: Pick<Announcer, 'confirm'>;
    trail: Trail;
  },
): CatalogAdminServiceServer {
  return {
    ...importCalls(service, parts),
    ...recordCalls(service, parts),
    ...overrideCalls(service, parts),
    ...listCalls(service, parts),
    ...exportCalls(service, parts),
  };
}
