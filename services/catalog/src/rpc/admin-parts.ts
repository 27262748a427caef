import type { CallMetadata, Trail } from '@brand-data/runtime';
import type { FindCandidates } from '../lookup/candidates.ts';
import type { Suggest } from '../lookup/suggestions.ts';
import type { Announcer } from '../storage/announcer.ts';
import type { Restore } from '../storage/restore.ts';
import type { CatalogStore } from '../storage/store.ts';

/** The parts of the service that the calls of operators use. */
export interface AdminParts {
  findCandidates: FindCandidates;
  suggest: Suggest;
  store: CatalogStore;
  restore: Restore;
  announcer: Pick<Announcer, 'confirm'>;
  trail: Trail;
}

/** A call that is under way. */
export interface OperatorCallContext {
  /** Aborted at the deadline of the call, and when its caller cancels it. */
  signal: AbortSignal;
  metadata: CallMetadata;
}
