import type { CatalogAdminServiceServer } from '@brand-data/contracts';
import { Fault, serverStream } from '@brand-data/runtime';
import { type AdminParts, operatorCall } from './operator-calls.ts';

/** Returns the calls about import runs. */
export function runCalls(
  parts: AdminParts,
): Pick<
  CatalogAdminServiceServer,
  'noteImport' | 'listImports' | 'listImportChanges' | 'undoImport' | 'listSourceRecords'
> {
  const notYet = () => {
    throw new Fault('unavailable', 'import runs are not recorded yet');
  };
  return {
    noteImport: operatorCall(parts, notYet),
    listImports: operatorCall(parts, notYet),
    listImportChanges: serverStream(parts.service, notYet),
    undoImport: operatorCall(parts, notYet),
    listSourceRecords: serverStream(parts.service, notYet),
  };
}
