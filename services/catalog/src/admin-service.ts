import {
  CATALOG_CHANGES_SUBJECT,
  type CatalogAdminServiceServer,
  CatalogChanged,
  type FinishImportRequest,
  type FinishImportResponse,
  type GetBrandRequest,
  type GetBrandResponse,
  type GetStatisticsRequest,
  type GetStatisticsResponse,
  type PutBrandsRequest,
  type PutBrandsResponse,
} from '@brand-data/contracts';
import { Fault, type Nats, type Service, unary } from '@brand-data/runtime';
import { inTime } from './in-time.ts';
import type { CatalogStore, PutOutcome } from './store.ts';
import { isSlug, problemsOf, refusalOf } from './validation.ts';

const MAX_BRANDS = 500;
const ANSWER_WITHIN_MS = 10_000;
/** Reads of the whole collection. */
const SCAN_WITHIN_MS = 60_000;
const ANNOUNCE_MS = 2_000;

/** What operators call: see proto/brand_data/v1/catalog.proto for shapes and errors. */
export function catalogAdminService(
  service: Service,
  store: CatalogStore,
  { connection }: Nats,
): CatalogAdminServiceServer {
  return {
    putBrands: unary<PutBrandsRequest, PutBrandsResponse>(
      service,
      inTime(ANSWER_WITHIN_MS, async (request) => {
        refuseBadImport(request);
        const { source, importId, brands } = request;
        if (brands.length > MAX_BRANDS)
          throw new Fault(
            'invalid_argument',
            `the batch has ${brands.length} records: send ${MAX_BRANDS} at most`,
          );
        const refusals = refusalsOf(brands);
        const accepted = brands.flatMap((brand, index) =>
          refusals[index] === undefined ? [{ brand, index }] : [],
        );
        const outcomes = await store.putContributions(
          source,
          importId,
          accepted.map(({ brand }) => brand),
        );
        for (const [place, { index }] of accepted.entries()) {
          const outcome = outcomes[place];
          if (typeof outcome === 'object') refusals[index] = outcome.refused;
        }
        const count = (wanted: PutOutcome) => outcomes.filter((outcome) => outcome === wanted).length;
        return {
          created: count('created'),
          changed: count('changed'),
          unchanged: count('unchanged'),
          refused: refusals.flatMap((reason, index) => (reason === undefined ? [] : [{ index, reason }])),
        };
      }),
    ),

    finishImport: unary<FinishImportRequest, FinishImportResponse>(
      service,
      inTime(SCAN_WITHIN_MS, async (request) => {
        refuseBadImport(request);
        const pruned = request.prune ? await store.prune(request.source, request.importId) : 0;
        await announceChanges(connection);
        return { pruned };
      }),
    ),

    getBrand: unary<GetBrandRequest, GetBrandResponse>(
      service,
      inTime(ANSWER_WITHIN_MS, async ({ id }) => {
        const brand = await store.readBrand(id);
        if (brand === undefined)
          throw new Fault('not_found', `there is no record "${id.slice(0, 100)}": look its id up by name`);
        return { brand };
      }),
    ),

    getStatistics: unary<GetStatisticsRequest, GetStatisticsResponse>(
      service,
      inTime(SCAN_WITHIN_MS, () => store.countBrands()),
    ),
  };
}

/** A source's name becomes a field's name in the database: neither "." nor "$" may be in it. */
function refuseBadImport({ source, importId }: { source: string; importId: string }): void {
  if (!isSlug(source))
    throw new Fault('invalid_argument', 'source must be a lower-case slug, such as "simple-icons"');
  if (!/^[\w.:-]{1,128}$/.test(importId))
    throw new Fault(
      'invalid_argument',
      'import_id must be 1 to 128 letters, digits, hyphens, underscores, dots and colons',
    );
}

function refusalsOf(brands: PutBrandsRequest['brands']): (string | undefined)[] {
  const seen = new Set<string>();
  return brands.map((brand) => {
    const repeated = seen.has(brand.id)
      ? ['id is given twice in this batch: send one record of each id']
      : [];
    seen.add(brand.id);
    return refusalOf([...problemsOf(brand), ...repeated]);
  });
}

/** Returns when the server has it; what it sends on to gateways may be lost, and then only delays. */
async function announceChanges(connection: Nats['connection']): Promise<void> {
  const everyRecord = CatalogChanged.encode({ brandIds: [] }).finish();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), ANNOUNCE_MS);
  });
  try {
    connection.publish(CATALOG_CHANGES_SUBJECT, everyRecord);
    await Promise.race([connection.flush(), late]);
  } catch (cause) {
    throw new Fault('unavailable', 'the records are stored, but NATS did not take the news: finish again', {
      cause,
    });
  } finally {
    clearTimeout(timer);
  }
}
