import type { ImagesAdminServiceClient } from '@brand-data/contracts';
import type { callUnary } from '@brand-data/runtime';

type Method<Request, Response> = Parameters<typeof callUnary<Request, Response>>[1];

/** The admin port of images, with the operator's credential. */
export interface ImagesPort {
  /** Rejects with a Fault. */
  call<Request, Response>(
    method: (client: ImagesAdminServiceClient) => Method<Request, Response>,
    request: Request,
    deadlineMs?: number,
  ): Promise<Response>;
}
