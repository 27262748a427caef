import type { CatalogAdminServiceClient, ImagesAdminServiceClient } from '@brand-data/contracts';
import type { callUnary } from '@brand-data/runtime';

type Method<Request, Response> = Parameters<typeof callUnary<Request, Response>>[1];

/** A service's admin port, with the operator's credential. */
export interface AdminPort<Client> {
  /** Rejects with a Fault. */
  call<Request, Response>(
    method: (client: Client) => Method<Request, Response>,
    request: Request,
    deadlineMs?: number,
  ): Promise<Response>;
}

export type CatalogPort = AdminPort<CatalogAdminServiceClient>;
export type ImagesPort = AdminPort<ImagesAdminServiceClient>;
