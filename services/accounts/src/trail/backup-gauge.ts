import { gaugesAtScrape, type Service } from '@brand-data/runtime';

/** Shows when `bds backup` last copied accounts and metering. Absent if the trail has no such copy. */
export function showNewestBackup(
  { metrics }: Service,
  { newestBackup }: { newestBackup(): Promise<Date | undefined> },
): void {
  gaugesAtScrape(metrics, newestBackup, [
    {
      name: 'accounts_newest_backup_timestamp_seconds',
      help: 'When bds backup last ended a copy of accounts and metering, in seconds since 1970; absent if the trail has none',
      samplesOf: (at) => [[{}, at.getTime() / 1_000]],
    },
  ]);
}
