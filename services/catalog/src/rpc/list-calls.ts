import type { CatalogAdminServiceServer } from '@brand-data/contracts';
import { type Service, serverStream } from '@brand-data/runtime';
import type { AdminParts } from './admin-parts.ts';
import { imagePaths, logoFiles } from './image-listings.ts';
import { listedBrands } from './listed-brands.ts';

/** Returns the calls that stream what the catalogue has. */
export function listCalls(
  service: Service,
  { store }: AdminParts,
): Pick<CatalogAdminServiceServer, 'listBrands' | 'listImagePaths' | 'listLogoFiles'> {
  return {
    listBrands: serverStream(service, (request, signal) =>
      listedBrands(store.scan(request.after, signal), request),
    ),
    listImagePaths: serverStream(service, ({ after }, signal) => imagePaths(store.scan(after, signal))),
    listLogoFiles: serverStream(service, ({ after }, signal) => logoFiles(store.scan(after, signal))),
  };
}
