import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IDENTITIES } from '@brand-data/contracts';
import { identityNameOf } from '@brand-data/runtime';
import type { Certified } from '@brand-data/servers/certificate-maker';
import { replaceFile } from './data-folder.ts';

const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3_650;
const CERTIFICATE_DAYS = 365;
/** A certificate with less time than this left is replaced. */
const RENEWED_BEFORE_DAYS = 60;

/**
 * Makes an authority and a certificate for every identity in the folder, and replaces those that expire within 60 days. All others
 * stay as they are. Running services notice the new files by themselves.
 */
export async function keepCertificates(folder: string, nowMs = Date.now()): Promise<void> {
  // Loaded only when a certificate is missing, because that takes a third of a second.
  const maker = () => import('@brand-data/servers/certificate-maker');
  let authority = await readKept(folder, 'ca', nowMs);
  if (authority === undefined) {
    authority = await (await maker()).newAuthority({ nowMs, days: AUTHORITY_DAYS });
    await writeFiles(folder, { 'ca.key': authority.key, 'ca.crt': authority.cert });
  }
  for (const identity of IDENTITIES) {
    const own = join(folder, identity);
    const kept = await readKept(own, 'tls', nowMs);
    if (kept !== undefined && isFrom(authority, kept)) continue;
    const validity = { nowMs, days: CERTIFICATE_DAYS };
    const { cert, key } = await (await maker()).newCertificate(
      authority,
      [identityNameOf(identity)],
      validity,
    );
    await writeFiles(own, { 'ca.crt': authority.cert, 'tls.key': key, 'tls.crt': cert });
  }
}

/** Resolves to undefined if the files are missing, do not fit together, or expire soon. */
async function readKept(folder: string, name: string, nowMs: number): Promise<Certified | undefined> {
  try {
    const cert = await readFile(join(folder, `${name}.crt`), 'utf8');
    const key = await readFile(join(folder, `${name}.key`), 'utf8');
    const certificate = new X509Certificate(cert);
    const daysLeft = (certificate.validToDate.getTime() - nowMs) / DAY_MS;
    const isUsable = certificate.checkPrivateKey(createPrivateKey(key)) && daysLeft > RENEWED_BEFORE_DAYS;
    return isUsable ? { cert, key } : undefined;
  } catch {
    return undefined;
  }
}

function isFrom(authority: Certified, { cert }: Certified): boolean {
  return new X509Certificate(cert).verify(new X509Certificate(authority.cert).publicKey);
}

async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await replaceFile(join(folder, name), text);
}
