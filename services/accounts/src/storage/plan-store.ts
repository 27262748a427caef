import { Fault, type OperatorCall } from '@brand-data/runtime';
import type { ClientSession } from 'mongodb';
import { type PlanDoc, type PlanTerms, planDetails } from '../model/plan.ts';
import type { AccountsCollections } from './collections.ts';
import { StorePart } from './database.ts';

/** The plans in the accounts database. */
export class PlanStore extends StorePart {
  /** Creates or replaces a plan. `replaces` is the revision that it must have, 0 if it must be new. Undefined: any. */
  set(
    name: string,
    { replaces, ...terms }: PlanTerms & { replaces?: number | undefined },
    by: OperatorCall,
  ): Promise<PlanDoc> {
    const { plans } = this.collections;
    return this.database.change(by, 'SetPlan', async (session, revision) => {
      const before = await plans.findOne({ _id: name }, { session });
      const { pools, limits, public: isPublic = before?.public } = terms;
      const result = {
        _id: name,
        pools,
        ...(limits && { limits }),
        ...(isPublic && { public: true }),
        revision,
      };
      await plans.replaceOne({ _id: name }, result, { upsert: true, session });
      if (replaces !== undefined && replaces !== (before?.revision ?? 0))
        throw new Fault('failed_precondition', 'the plan was changed meanwhile: run the command again');
      return {
        result,
        notice: { $case: 'plan', value: name },
        about: [name],
        details: {
          plan: name,
          ...planDetails(result),
          ...(before && beforeDetails(before)),
        },
      };
    });
  }

  delete(name: string, by: OperatorCall): Promise<PlanDoc> {
    const { plans, accounts } = this.collections;
    return this.database.change(by, 'DeletePlan', async (session) => {
      const result = await plans.findOneAndDelete({ _id: name }, { session });
      if (!result)
        throw new Fault('not_found', `there is no plan ${JSON.stringify(name)}: bds plan list shows all`);
      const count = await accounts.countDocuments({ plan: name }, { session });
      if (count > 0) {
        const first = await accounts.find({ plan: name }, { session, sort: { _id: 1 }, limit: 5 }).toArray();
        const named = `${first.map(({ _id }) => _id).join(', ')}${count > first.length ? ' …' : ''}`;
        throw new Fault(
          'failed_precondition',
          `${count} ${count === 1 ? 'account is' : 'accounts are'} on the plan (${named}): give them another one, or delete them`,
        );
      }
      return {
        result,
        notice: { $case: 'plan', value: name },
        about: [name],
        details: { plan: name, ...beforeDetails(result) },
      };
    });
  }

  list(): Promise<PlanDoc[]> {
    const { plans } = this.collections;
    return this.database.read((session) => plans.find({}, { session }).sort({ _id: 1 }).toArray());
  }
}

function beforeDetails(before: PlanDoc) {
  const { pools, rate, concurrency, public: isPublic } = planDetails(before);
  return { before: pools, rate_before: rate, concurrency_before: concurrency, public_before: isPublic };
}

/** Rejects with a Fault unless there is the plan. */
export async function requirePlan(
  { plans }: AccountsCollections,
  session: ClientSession,
  plan: string,
): Promise<void> {
  if (!(await plans.findOne({ _id: plan }, { session })))
    throw new Fault('not_found', `there is no plan ${JSON.stringify(plan)}: create it first`);
}
