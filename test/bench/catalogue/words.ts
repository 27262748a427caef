/**
 * Words for names and texts. Distinctive words are invented from syllables, in any number. Business words come from a short
 * list that all companies share.
 */
export function distinctiveWord(number: number): string {
  const first = SYLLABLES[number % SYLLABLES.length] ?? '';
  const middle = SYLLABLES[(Math.floor(number / SYLLABLES.length) * 7 + number) % SYLLABLES.length] ?? '';
  const rest = Math.floor(number / SYLLABLES.length ** 2);
  const last = ENDINGS[(number * 11 + Math.floor(number / SYLLABLES.length)) % ENDINGS.length] ?? '';
  return first + middle + (rest === 0 ? '' : (SYLLABLES[rest % SYLLABLES.length] ?? '')) + last;
}

/** Returns a word in Katakana, Han, Cyrillic, Greek or Hangul, as a company of that country writes its name. */
export function nativeWord(script: Script, number: number): string {
  const letters = SCRIPTS[script];
  let text = '';
  for (let rest = number + letters.length ** 2, length = 0; rest > 0 && length < 6; length++) {
    text += letters[rest % letters.length];
    rest = Math.floor(rest / letters.length);
  }
  return text;
}

export type Script = keyof typeof SCRIPTS;

const SCRIPTS = {
  katakana: Array.from(
    'アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロ',
  ),
  han: Array.from('中华国新华东方海天长江金银河信安泰康宝光明大同联合科技电力石化建设银行保险汽车食品'),
  cyrillic: Array.from('абвгдежзиклмнопрстуфхцчшэюя'),
  hangul: Array.from('가나다라마바사아자차카타파하고노도로모보소오조초'),
} as const;

const SYLLABLES =
  'ka ve lo mi ra no ti sa be du go fi la ne po ru se ta vi zo an el or in um ar es ol en ix al ti qua bri cal dor fen gra hel jun kor lum mar nor pel ros sol tan ver wes yor zan'.split(
    ' ',
  );
const ENDINGS = 'ra n co lis x ta rs na do m va ris ton der ka s la rn que ve'.split(' ');

export const BUSINESS_WORDS =
  'Group Holdings Systems Technologies Industries Energy Capital Foods Bank Services Solutions Global International Partners Resources Medical Pharma Motors Airlines Insurance Media Software Networks Digital Logistics Materials Chemicals Steel Mining Gold Oil Gas Power Electric Solar Water Properties Realty Estates Construction Engineering Electronics Semiconductor Instruments Labs Sciences Biotech Therapeutics Health Care Clinics Retail Stores Fashion Apparel Luxury Sports Games Entertainment Studios Pictures Music Publishing Press Education Learning Travel Hotels Resorts Restaurants Coffee Brewing Beverages Dairy Farms Agri Seeds Paper Packaging Plastics Glass Textiles Furniture Design Tools Machinery Robotics Automation Aerospace Defence Marine Shipping Ports Rail Transport Freight Mobility Telecom Wireless Cable Satellite Data Cloud Security Payments Finance Credit Trust Ventures Equity Investments Advisors Consulting Staffing Marketing Advertising Home Garden Pet Baby Toys Cosmetics Beauty Cleaning Waste Environmental Recycling Infrastructure Cement Stone Timber Rubber Tires Parts Components Optics Sensors Batteries Storage'.split(
    ' ',
  );

export const PLAIN_WORDS =
  'makes sells designs builds operates develops supplies distributes leases finances a the of for and with in across its their large small industrial private public regional national customers households factories hospitals schools products services equipment systems vehicles components platforms markets countries plants stores brands partners networks quality safety research long short new early modern first second several many own'.split(
    ' ',
  );
