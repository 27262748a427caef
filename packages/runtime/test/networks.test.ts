import { inNetworks, isNetwork, usualNetwork } from '@brand-data/runtime';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const address = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.ipV4().map((ipV4) => `::ffff:${ipV4}`),
);

test('the usual form of a network has the same addresses, and is its own usual form', () => {
  fc.assert(
    fc.property(address, fc.nat(128), fc.array(address), (first, bits, others) => {
      const network = `${first}/${bits}`;
      fc.pre(isNetwork(network));
      const usual = usualNetwork(network);
      expect(usualNetwork(usual)).toBe(usual);
      const isInNetwork = inNetworks([network]);
      const isInUsual = inNetworks([usual]);
      expect(isInUsual(first)).toBe(true);
      for (const each of others) expect(isInUsual(each)).toBe(isInNetwork(each));
    }),
  );
});
