const DOMAIN = '.brand-data.internal';

/**
 * Returns the name in the certificate of a service: "gateway.brand-data.internal". It is an identity, and no DNS server knows it.
 */
export function identityNameOf(service: string): string {
  return `${service}${DOMAIN}`;
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
