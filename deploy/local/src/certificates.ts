import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IDENTITIES } from '@brand-data/contracts';
import { identityNameOf } from '@brand-data/runtime';
import type { Certified } from '@brand-data/servers/certificate-maker';

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
  const keptAuthority = await readKept(folder, 'ca', nowMs);
  const authority = keptAuthority ?? (await makeAuthority(folder, nowMs));
  for (const identity of IDENTITIES) {
    const own = join(folder, identity);
    const kept = await readKept(own, 'tls', nowMs);
    if (kept === undefined || !isFrom(authority, kept))
      await makeCertificate(folder, identity, authority, nowMs);
  }
}

async function makeAuthority(folder: string, nowMs: number): Promise<Certified> {
  const { newAuthority } = await maker();
  const authority = await newAuthority({ nowMs, days: AUTHORITY_DAYS });
  await writeCertified(folder, 'ca', authority);
  return authority;
}

async function makeCertificate(
  folder: string,
  identity: string,
  authority: Certified,
  nowMs: number,
): Promise<void> {
  const { newCertificate } = await maker();
  const own = join(folder, identity);
  const certified = await newCertificate(authority, [identityNameOf(identity)], {
    nowMs,
    days: CERTIFICATE_DAYS,
  });
  await writeFiles(own, { 'ca.crt': authority.cert });
  await writeCertified(own, 'tls', certified);
}

/** Loads the library only when a certificate is missing, because that takes a third of a second. */
function maker() {
  return import('@brand-data/servers/certificate-maker');
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

function writeCertified(folder: string, name: string, { cert, key }: Certified): Promise<void> {
  return writeFiles(folder, { [`${name}.key`]: key, [`${name}.crt`]: cert });
}

/** Replaces each file as a whole. Only this user can read it. */
async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name);
    await writeFile(`${file}.new`, text, { mode: 0o600 });
    await rename(`${file}.new`, file);
  }
}
