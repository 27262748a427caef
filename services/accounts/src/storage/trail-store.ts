import type { AuditDoc, AuditPage, AuditUpdate } from '../trail/audit.ts';
import { StorePart } from './database.ts';

/** The trail of operators' changes in the accounts database. */
export class TrailStore extends StorePart {
  /** Stores what another service has said about a change. Idempotent. */
  async storeAudit({ _id, update }: AuditUpdate): Promise<void> {
    const { audit } = this.collections;
    await this.database.write(audit.updateOne({ _id }, update, { upsert: true }));
  }

  /** Returns when `bds backup` last copied accounts and metering: copies without metering leave no entry. */
  async newestBackup(): Promise<Date | undefined> {
    const { audit } = this.collections;
    const options = { sort: { at: -1 }, projection: { at: 1 }, maxTimeMS: 1_000 } as const;
    return (await audit.findOne({ method: 'Backup', about: 'accounts' }, options))?.at;
  }

  /** Returns a page of the trail, latest first. */
  list({ filter, limit }: AuditPage): Promise<AuditDoc[]> {
    const { audit } = this.collections;
    return this.database.read((session) =>
      audit.find(filter, { session }).sort({ at: -1, _id: -1 }).limit(limit).toArray(),
    );
  }
}
