import { join } from 'node:path';

/** Returns the files of one identity in a folder that `keepCertificates` of deploy/local has filled. */
export function certificateFiles(
  folder: string,
  identity: string,
): { cert: string; key: string; ca: string } {
  const file = (name: string) => join(folder, identity, name);
  return { cert: file('tls.crt'), key: file('tls.key'), ca: file('ca.crt') };
}

/** Returns the settings by which a service finds its certificates. */
export function certificateSettings(folder: string, identity: string): Record<string, string> {
  const { cert, key, ca } = certificateFiles(folder, identity);
  return { TLS_CERT_FILE: cert, TLS_KEY_FILE: key, TLS_CA_FILE: ca };
}
