import type { CatalogAdminServiceClient } from '@brand-data/contracts';
import type { callUnary } from '@brand-data/runtime';

type Method<Request, Response> = Parameters<typeof callUnary<Request, Response>>[1];

/** The catalogue's admin port, with the operator's credential. */
export interface CatalogPort {
  /** Rejects with a Fault. */
  call<Request, Response>(
    method: (client: CatalogAdminServiceClient) => Method<Request, Response>,
    request: Request,
    deadlineMs?: number,
  ): Promise<Response>;
}
