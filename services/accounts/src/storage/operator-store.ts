import { Fault, type OperatorCall } from '@brand-data/runtime';
import { Binary } from 'mongodb';
import type { OperatorDoc } from '../model/operator.ts';
import { listRevocable, NOT_REVOKED, OPERATORS_COUNTER } from './collections.ts';
import { StorePart } from './database.ts';

/** Two, so that one can replace the other. */
const MOST_OF_ONE = 2;
const MOST_CREDENTIALS = 200;
const MOST_REVOKED_LISTED = 200;

/** The operators' credentials in the accounts database. */
export class OperatorStore extends StorePart {
  create(operator: OperatorDoc, by: OperatorCall): Promise<OperatorDoc> {
    const change = { by, method: 'CreateOperator', counter: OPERATORS_COUNTER };
    return this.database.record(change, async (session) => {
      const { _id, name } = operator;
      requireRoom(operator, await this.#operators.find(NOT_REVOKED, { session }).toArray());
      await this.#operators.insertOne(operator, { session });
      return { result: operator, about: [name, _id], details: { credential: _id, role: operator.role } };
    });
  }

  /** If a credential is revoked already, keeps the time of its first revocation. */
  revoke(name: string, credentialId: string, now: Date, by: OperatorCall): Promise<OperatorDoc[]> {
    const change = { by, method: 'RevokeOperator', counter: OPERATORS_COUNTER };
    return this.database.record(change, async (session) => {
      const filter = credentialId === '' ? { name, ...NOT_REVOKED } : { name, _id: credentialId };
      const found = await this.#operators.find(filter, { session }).toArray();
      if (found.length === 0)
        throw new Fault(
          'not_found',
          credentialId === ''
            ? `${name} has no credential that could be revoked: bds operator list shows all`
            : 'the operator has no such credential: bds operator list shows all',
        );
      const ids = found.map(({ _id }) => _id);
      await this.#operators.updateMany(
        { _id: { $in: ids }, ...NOT_REVOKED },
        { $set: { revokedAt: now } },
        { session },
      );
      return {
        result: found.map((operator) => ({ ...operator, revokedAt: operator.revokedAt ?? now })),
        about: [name, ...ids],
        details: { credentials: ids.join(', ') },
      };
    });
  }

  list(): Promise<OperatorDoc[]> {
    return this.database.read((session) => listRevocable(this.#operators, {}, MOST_REVOKED_LISTED, session));
  }

  async findOperator(hash: Buffer): Promise<OperatorDoc | undefined> {
    const found = await this.database.read((session) =>
      this.#operators.findOne({ hash: new Binary(hash) }, { session }),
    );
    return found ?? undefined;
  }

  get #operators() {
    return this.collections.operators;
  }
}

/** Throws a Fault if the operator's name has another role, or if there are too many credentials. */
function requireRoom({ name, role }: OperatorDoc, open: readonly OperatorDoc[]): void {
  const own = open.filter((each) => each.name === name);
  const other = own.find((each) => each.role !== role);
  if (other)
    throw new Fault(
      'failed_precondition',
      `${name} has the role ${other.role}: revoke its credentials before you give it another role`,
    );
  if (own.length >= MOST_OF_ONE)
    throw new Fault('resource_exhausted', `${name} already has ${MOST_OF_ONE} credentials: revoke one first`);
  if (open.length >= MOST_CREDENTIALS)
    throw new Fault(
      'resource_exhausted',
      `there are already ${MOST_CREDENTIALS} credentials: revoke one first`,
    );
}
