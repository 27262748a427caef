import legalForms from './legal-forms.json' with { type: 'json' };
import { legalFormOf } from './names.ts';
import { remembered } from './texts.ts';

/**
 * How the legal forms of two names agree.
 *
 * - "compatible": equal, or one is missing, unknown or a usual translation of the other.
 * - "converted": companies often change from one to the other (AG to SE). One company may therefore have both, but so may two
 *   sister companies (Porsche AG and Porsche SE).
 * - "clash": two companies, unless several other facts agree.
 */
export type FormsAgreement = 'compatible' | 'converted' | 'clash';

/** By a form's spelling. "Co" is none of them, because it comes before forms of many families. */
const FAMILY_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(legalForms.families).flatMap(([family, spellings]) =>
    spellings.map((spelling) => [spelling, family]),
  ),
);

/** English forms stand for these forms of other countries: "Nokia Corporation", "Toyota Motor Corporation". */
const TRANSLATED: ReadonlySet<string> = new Set(['ab', 'oyj', 'as', 'kk', 'bhd', 'tbk', 'pcl', 'jsc']);
/** Forms for which only "Ltd" is used, such as "Nestlé Ltd" for the S.A. of Switzerland. */
const CALLED_LIMITED: ReadonlySet<string> = new Set(['plc', 'ag', 'sa', 'nv', 'spa']);
/** The families of each pair in the order of the alphabet. */
const CONVERTED = new Set(['ag se', 'ag gmbh', 'gmbh se', 'sa se', 'nv se', 'ab oyj', 'inc lp', 'lp ltd']);

/** Returns the families of a name's legal forms: "inc" for "Apple Corporation", "inc" and "plc" for "Eaton Corp. plc". */
export const legalFamiliesOf = remembered((name): readonly string[] => {
  const words = legalFormOf(name)
    .replace(/public (?:limited company|ltd co)/, 'plc')
    .replace(/public (?:company|co) (?:limited|ltd)/, 'pcl')
    .replace(/joint stock (?:company|co)/, 'jsc')
    .split(' ');
  return [...new Set(words.flatMap((word) => FAMILY_OF.get(word) ?? []))];
});

/** Returns the best agreement of any two families, because a name may have several. Symmetric. */
export function compareLegalFamilies(a: Iterable<string>, b: Iterable<string>): FormsAgreement {
  const ofB = [...b];
  const found = new Set([...a].flatMap((one) => ofB.map((other) => compareFamilies(one, other))));
  if (found.size === 0 || found.has('compatible')) return 'compatible';
  return found.has('converted') ? 'converted' : 'clash';
}

function compareFamilies(a: string, b: string): FormsAgreement {
  if (a === b) return 'compatible';
  if (CONVERTED.has([a, b].toSorted().join(' '))) return 'converted';
  return isUsedFor(a, b) || isUsedFor(b, a) ? 'compatible' : 'clash';
}

/** Checks whether the family, which is English or Dutch, is also used for companies of the other family. */
function isUsedFor(family: string, other: string): boolean {
  if (family === 'ltd') return other === 'inc' || TRANSLATED.has(other) || CALLED_LIMITED.has(other);
  if (family === 'inc') return TRANSLATED.has(other);
  // A company is a B.V. until its shares are listed.
  if (family === 'nv') return other === 'bv';
  return family === 'plc' && (other === 'pcl' || other === 'oyj');
}
