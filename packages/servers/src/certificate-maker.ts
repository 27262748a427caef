import 'reflect-metadata';
import {
  BasicConstraintsExtension,
  X509Certificate as Certificate,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

const DAY_MS = 86_400_000;
/** Clocks of machines may differ. */
const DRIFT_MS = 300_000;
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** A PEM certificate and its PEM key. */
export interface Certified {
  cert: string;
  key: string;
}

export interface Validity {
  nowMs: number;
  /** May be negative: the certificate has expired. */
  days: number;
}

/** Makes an authority, which can issue certificates but no further authorities. */
export async function newAuthority(validity: Validity): Promise<Certified> {
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    ...dates(validity),
    name: `CN=Brand Data ${crypto.randomUUID()}`,
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  });
  return certified(certificate, keys);
}

/** Makes a certificate with these DNS names, which is valid for servers and clients. */
export async function newCertificate(
  authority: Certified,
  names: readonly string[],
  validity: Validity,
): Promise<Certified> {
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.create({
    ...dates(validity),
    subject: `CN=${names[0] ?? 'nameless'}`,
    issuer: new Certificate(authority.cert).subject,
    publicKey: keys.publicKey,
    signingKey: await readKey(authority.key),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
      ...(names.length === 0
        ? []
        : [new SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns' as const, value })))]),
    ],
  });
  return certified(certificate, keys);
}

function dates({ nowMs, days }: Validity): { notBefore: Date; notAfter: Date } {
  const endMs = nowMs + days * DAY_MS;
  return { notBefore: new Date(Math.min(nowMs, endMs) - DRIFT_MS), notAfter: new Date(endMs) };
}

function newKeys(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

function readKey(pem: string): Promise<CryptoKey> {
  const [bytes] = PemConverter.decode(pem);
  return crypto.subtle.importKey('pkcs8', bytes as ArrayBuffer, ALGORITHM, false, ['sign']);
}

async function certified(certificate: X509Certificate, { privateKey }: CryptoKeyPair): Promise<Certified> {
  const key = await crypto.subtle.exportKey('pkcs8', privateKey);
  return { cert: `${certificate.toString('pem')}\n`, key: `${PemConverter.encode(key, 'PRIVATE KEY')}\n` };
}
