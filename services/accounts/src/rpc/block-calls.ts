import type { AccountsAdminServiceServer } from '@brand-data/contracts';
import { operatorCallOf, type Service, unary } from '@brand-data/runtime';
import { blockToProto, requireBlock, requireNetwork } from '../model/block.ts';
import type { Outbox } from '../storage/outbox.ts';
import type { Store } from '../storage/store.ts';

/** Returns the calls about blocked networks. */
export function blockCalls(
  service: Service,
  {
    store: { blocks },
    outbox,
    trustedProxies,
  }: { store: Store; outbox: Outbox; trustedProxies: readonly string[] },
) {
  return {
    blockNetwork: unary(service, async (request, metadata) => {
      const by = operatorCallOf(metadata);
      const given = { trustedProxies, nowMs: Date.now(), createdBy: by.operator.name };
      const block = await outbox.confirm(blocks.block(requireBlock(request, given), by));
      return { block: blockToProto(block) };
    }),

    unblockNetwork: unary(service, async ({ network }, metadata) => {
      const lifted = blocks.unblock(requireNetwork(network), operatorCallOf(metadata));
      return { block: blockToProto(await outbox.confirm(lifted)) };
    }),

    listBlocks: unary(service, async () => ({ blocks: (await blocks.list(new Date())).map(blockToProto) })),
  } satisfies Partial<AccountsAdminServiceServer>;
}
