import { Fault, type OperatorCall } from '@brand-data/runtime';
import type { BlockDoc } from '../model/block.ts';
import { StorePart } from './database.ts';

/** Gateways hold all blocks in memory. */
const MOST_BLOCKS = 1_000;

/** The blocked networks in the accounts database. */
export class BlockStore extends StorePart {
  /** Replaces an earlier block of the same network. */
  block(block: BlockDoc, by: OperatorCall): Promise<BlockDoc> {
    return this.database.change(by, 'BlockNetwork', async (session) => {
      const { _id: network, reason, createdAt, expiresAt } = block;
      const others = { _id: { $ne: network }, expiresAt: { $gt: createdAt } };
      if ((await this.#blocks.countDocuments(others, { session })) >= MOST_BLOCKS)
        throw new Fault('resource_exhausted', `there are already ${MOST_BLOCKS} blocks: lift one first`);
      const before = await this.#blocks.findOneAndReplace({ _id: network }, block, { upsert: true, session });
      return {
        result: block,
        notice: { $case: 'network', value: network },
        about: [network],
        details: {
          network,
          until: expiresAt.toISOString(),
          reason,
          before: before ? textOf(before) : undefined,
        },
      };
    });
  }

  /** Returns the block that is lifted. */
  unblock(network: string, by: OperatorCall): Promise<BlockDoc> {
    return this.database.change(by, 'UnblockNetwork', async (session) => {
      const lifted = await this.#blocks.findOneAndDelete({ _id: network }, { session });
      if (!lifted) throw new Fault('not_found', `${network} is not blocked: bds block list shows all blocks`);
      return {
        result: lifted,
        notice: { $case: 'network', value: network },
        about: [network],
        details: { network, before: textOf(lifted) },
      };
    });
  }

  /** Returns the blocks that have not expired, in the order of their creation. */
  list(now: Date): Promise<BlockDoc[]> {
    return this.database.read((session) =>
      this.#blocks
        .find({ expiresAt: { $gt: now } }, { session })
        .sort({ createdAt: 1 })
        .toArray(),
    );
  }

  get #blocks() {
    return this.collections.blocks;
  }
}

function textOf({ expiresAt, reason }: BlockDoc): string {
  return `until ${expiresAt.toISOString()}: ${reason}`;
}
