import type { CatalogAdminServiceServer } from '@brand-data/contracts';
import type { Service } from '@brand-data/runtime';
import type { AdminParts } from './admin-parts.ts';
import { exportCalls } from './export-calls.ts';
import { importCalls } from './import-calls.ts';
import { listCalls } from './list-calls.ts';
import { overrideCalls } from './override-calls.ts';
import { recordCalls } from './record-calls.ts';

/** Returns the calls of operators: see proto/brand_data/v1/catalog.proto for shapes and errors. */
export function catalogAdminService(service: Service, parts: AdminParts): CatalogAdminServiceServer {
  return {
    ...importCalls(service, parts),
    ...recordCalls(service, parts),
    ...overrideCalls(service, parts),
    ...listCalls(service, parts),
    ...exportCalls(service, parts),
  };
}
