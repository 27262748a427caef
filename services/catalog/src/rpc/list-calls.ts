import type { CatalogAdminServiceServer } from '@brand-data/contracts';
import { type Service, serverStream } from '@brand-data/runtime';
import type { AdminParts } from './admin-parts.ts';
import { briefRecords } from './brief-records.ts';
import { imagePaths, logoFiles } from './image-listings.ts';

/** Returns the calls that stream what the catalogue has. */
export function listCalls(
  service: Service,
  { store }: AdminParts,
): Pick<CatalogAdminServiceServer, 'listBrands' | 'listImagePaths' | 'listLogoFiles'> {
  return {
    listBrands: serverStream(service, (request, signal) =>
      briefRecords(store.scan(request.after, signal), request),
    ),
    listImagePaths: serverStream(service, ({ after }, signal) => imagePaths(store.scan(after, signal))),
    listLogoFiles: serverStream(service, ({ after }, signal) => logoFiles(store.scan(after, signal))),
  };
}
