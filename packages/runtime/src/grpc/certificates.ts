import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { experimental } from '@grpc/grpc-js';
import { Gauge } from 'prom-client';
import { certificatesFromPem } from '../config/pem-keys.ts';
import type { Found } from '../observe/diagnosis.ts';
import { countBy, readAtScrape } from '../observe/metrics.ts';
import { retryUntilStopped, type Service } from '../service/service.ts';

const READ_EVERY_MS = 2_000;

/** The paths of PEM files. */
export interface CertificateFiles {
  /** The process's own certificate, followed by the intermediate ones if there are any. */
  cert: string;
  key: string;
  /** The certificates of the authorities whose peers this process trusts. */
  ca: string;
}

type Material = Record<keyof CertificateFiles, Buffer>;

/**
 * A process's certificate, its key and the authorities that it trusts. The files are read every two seconds. A change applies to
 * connections that begin after it, and servers end those that began before. If the files do not fit together, for example because
 * only some of them are replaced yet, the last ones that did stay in use. gRPC's own FileWatcherCertificateProvider would then
 * refuse every new connection.
 */
export class Certificates implements experimental.CertificateProvider {
  #material: Material;
  readonly #files: CertificateFiles;
  readonly #service: string;
  /** What to call after each change, by the listener. */
  readonly #listeners = new Map<object, () => void>();

  private constructor(service: string, files: CertificateFiles, material: Material) {
    this.#service = service;
    this.#files = files;
    this.#material = material;
  }

  /**
   * Throws if the files cannot be read, do not fit together, or hold the certificate of another service than `service`. The
   * message does not show what the files hold.
   */
  static read(service: string, files: CertificateFiles): Certificates {
    const material = readMaterial(files);
    refuseUnfit(service, material);
    return new Certificates(service, files, material);
  }

  /** Reads the files again. Returns whether they have changed. Throws as `read` does, and then changes nothing. */
  reload(): boolean {
    const material = readMaterial(this.#files);
    const now = this.#material;
    if (material.cert.equals(now.cert) && material.key.equals(now.key) && material.ca.equals(now.ca))
      return false;
    refuseUnfit(this.#service, material);
    this.#material = material;
    for (const tell of this.#listeners.values()) tell();
    return true;
  }

  get secureContextOptions(): SecureContextOptions {
    return this.#material;
  }

  /** When the certificate and the authority that issued it expire, in milliseconds of Unix time. */
  get expiry(): { own: number; ca: number } {
    const own = new X509Certificate(this.#material.cert);
    const issuers = certificatesFromPem(this.#material.ca.toString()).filter((ca) => own.checkIssued(ca));
    // An authority's certificate may be renewed with the same key. Then the one that lives longest counts.
    return { own: expiryOf(own), ca: Math.max(0, ...issuers.map(expiryOf)) || expiryOf(own) };
  }

  /** When the first of both expires. */
  get endMs(): number {
    const { own, ca } = this.expiry;
    return Math.min(own, ca);
  }

  /** Calls `listener` after each change. */
  onChange(listener: (options: SecureContextOptions) => void): () => void {
    this.#listeners.set(listener, () => listener(this.secureContextOptions));
    return () => this.#listeners.delete(listener);
  }

  addCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    this.#tellNowAndLater(listener, () => listener({ caCertificate: this.#material.ca }));
  }

  addIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener): void {
    this.#tellNowAndLater(listener, () =>
      listener({ certificate: this.#material.cert, privateKey: this.#material.key }),
    );
  }

  removeCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    this.#listeners.delete(listener);
  }

  removeIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener): void {
    this.#listeners.delete(listener);
  }

  #tellNowAndLater(listener: object, tell: () => void): void {
    this.#listeners.set(listener, tell);
    process.nextTick(tell);
  }
}

/** Waits for the files, keeps what they hold up to date until the service stops, and measures when it expires. */
export async function followCertificates(service: Service, files: CertificateFiles): Promise<Certificates> {
  const { log, metrics } = service;
  const read = async () => Certificates.read(service.name, files);
  const certificates = await retryUntilStopped('certificates', read, service);
  const countReload = countBy(metrics, {
    name: 'grpc_certificate_reloads_total',
    help: 'Changes of the certificate files, by result. "refused": the files do not fit together, and the last ones stay in use',
    label: 'result',
    values: ['applied', 'refused'],
  });
  const remaining = {
    name: 'grpc_certificate_remaining_seconds',
    help: 'Seconds until a certificate expires: "own", by which this process proves its identity, or "ca", the authority that issued it',
    labelNames: ['certificate'],
  };
  readAtScrape(Gauge, metrics, remaining, () =>
    Object.entries(certificates.expiry).map(([certificate, endMs]) => [
      { certificate },
      (endMs - Date.now()) / 1000,
    ]),
  );
  let refusal = '';
  const reload = () => {
    try {
      if (certificates.reload()) {
        countReload('applied');
        log.info({ expires: new Date(certificates.expiry.own) }, 'certificates reloaded');
      }
      refusal = '';
    } catch (error) {
      const { message } = error as Error;
      if (message === refusal) return;
      refusal = message;
      countReload('refused');
      log.error({ err: { message } }, 'the certificate files are not usable: the last ones stay in use');
    }
  };
  service.diagnosis?.add('certificate', async () => foundExpiry(certificates.endMs));
  const timer = setInterval(reload, READ_EVERY_MS);
  service.onStop('certificates', () => clearInterval(timer));
  return certificates;
}

const DAY_MS = 86_400_000;

/** Whether a certificate expires soon. The alerts have the same limits. */
export function foundExpiry(endMs: number): Found {
  const days = Math.floor((endMs - Date.now()) / DAY_MS);
  const detail = `ends on ${new Date(endMs).toISOString().slice(0, 10)}, in ${days} days`;
  if (days >= 30) return { state: 'ok', detail };
  const advice = 'renew it: deploy/operations.md says how';
  return { state: days < 3 ? 'wrong' : 'warning', detail, advice };
}

function readMaterial({ cert, key, ca }: CertificateFiles): Material {
  return { cert: readFileSync(cert), key: readFileSync(key), ca: readFileSync(ca) };
}

/** Throws if the key does not belong to the certificate, or if one of the files has the wrong content. */
function refuseUnfit(service: string, { cert, key, ca }: Material): void {
  createSecureContext({ cert, key, ca });
  const own = new X509Certificate(cert);
  const authorities = certificatesFromPem(ca.toString());
  if (authorities.length === 0) throw new Error('the file of authorities holds no certificate');
  if (serviceIn(own.subjectAltName) !== service)
    throw new Error(
      `the certificate is not that of ${service}: its only name of a service must be ${identityNameOf(service)}`,
    );
  if (expiryOf(own) <= Date.now()) throw new Error('the certificate has expired');
}

function expiryOf(certificate: X509Certificate): number {
  return certificate.validToDate.getTime();
}

/** Returns the name in the certificate of a service. It is an identity, and no DNS server knows it. */
export function identityNameOf(service: string): string {
  return `${service}.brand-data.internal`;
}

/**
 * Returns the service that a certificate identifies, from its alternative names as Node gives them ("DNS:a, DNS:b"). A certificate
 * may have further names, but only one of a service. Otherwise one leaked key could act as several services.
 */
export function serviceIn(alternativeNames: string | undefined): string | undefined {
  const names = (alternativeNames ?? '').split(', ');
  const [only, ...others] = names.flatMap(
    (name) => /^DNS:([a-z]+)\.brand-data\.internal$/.exec(name)?.[1] ?? [],
  );
  return others.length === 0 ? only : undefined;
}
