import type { FlatRecord, GroupedRecord, MarketData, RecordAnswer } from '@brand-data/client/source';
import { element, safeUrl } from '@brand-data/client/source/dom';
import { fieldFacts, groupView, linkView } from './facts.ts';
import { dateText, labelOf, money, numberText, percent, TYPES } from './figures.ts';

const SVG = 'http://www.w3.org/2000/svg';
const [WIDTH, HEIGHT, MARGIN] = [300, 24, 8];
const LOGO_SIZE = '256';
/** The groups of a grouped record whose facts are shown as they are. */
const GROUPS = ['company', 'ownership', 'offerings', 'history', 'transport', 'links'] as const;

/** Returns a grouped record as a person reads it. `priceDate` is the day of its price. */
export function groupedView(
  { data: record, priceDate }: RecordAnswer<GroupedRecord>,
  api: string,
): HTMLElement {
  if (record.type === 'superinvestor')
    return recordView(record, { logo: record.logo, category: record.category }, api, [
      groupView('Portfolio', fieldFacts(record, api, ['type', 'name', 'description', 'category', 'logo'])),
    ]);
  const { logo, banner } = record.images ?? {};
  const stock = record.type === 'stock' ? record : undefined;
  const picture = logo ?? stock?.images?.stock_logo;
  return recordView(
    record,
    {
      logo: picture?.big?.url ?? picture?.small?.url,
      banner: banner?.url,
      category: record.category,
      symbol: stock?.symbol,
      exchange: stock?.stock?.exchange,
    },
    api,
    [
      stock?.stock === undefined ? undefined : marketView(stock.stock, priceDate, api),
      ...GROUPS.map((group) => groupView(labelOf(group), fieldFacts(record[group] ?? {}, api))),
    ],
  );
}

/** Returns a flat record as a person reads it. */
export function flatView({ data: record, priceDate }: RecordAnswer<FlatRecord>, api: string): HTMLElement {
  const { exchange, symbol, currency, price, market_cap: cap, isin, is_actively_trading: trading } = record;
  const market = {
    exchange,
    isin,
    currency,
    price: price === null ? null : money(price, currency),
    price_date: priceDate === undefined ? null : dateText(priceDate),
    market_cap: cap === null ? null : money(cap, 'USD'),
    is_actively_trading: trading,
  };
  const shown = ['name', 'type', 'logo', 'description', 'symbol', ...Object.keys(market)];
  const inLinks = ['website', 'wikipedia', 'social_media'];
  const links = Object.fromEntries(Object.entries(record).filter(([key]) => inLinks.includes(key)));
  return recordView(record, { logo: record.logo, symbol, exchange }, api, [
    groupView('Stock', fieldFacts(market, api)),
    groupView('Company', fieldFacts(record, api, [...shown, ...inLinks])),
    groupView('Links', fieldFacts(links, api)),
  ]);
}

interface Head {
  logo?: string | undefined;
  banner?: string | undefined;
  category?: string | undefined;
  symbol?: string | null | undefined;
  exchange?: string | null | undefined;
}

function recordView(
  { name, type, description }: { name: string; type: string; description: string },
  { logo, banner, category, symbol, exchange }: Head,
  api: string,
  groups: readonly (HTMLElement | undefined)[],
): HTMLElement {
  const listing = [exchange, symbol].filter((part) => part != null && part !== '').join(': ');
  const badges = [TYPES[type] ?? type, listing, category === undefined ? '' : labelOf(category)]
    .filter((text, index, all) => text !== '' && all.indexOf(text) === index)
    .map((text) => element('li', {}, text));
  const pictures = (['light', 'dark'] as const).map((theme) => logoView(logo, theme, name, api));
  const bannerUrl = safeUrl(banner, api);
  return element(
    'article',
    { class: 'record', 'aria-labelledby': 'record-name' },
    ...(bannerUrl === undefined ? [] : [imageView(bannerUrl, { class: 'banner', alt: `Banner of ${name}` })]),
    element(
      'div',
      { class: 'head' },
      element('div', { class: 'logos' }, ...pictures),
      element(
        'div',
        { class: 'who' },
        element('h3', { id: 'record-name' }, name),
        element('ul', { class: 'badges', 'aria-label': 'What it is' }, ...badges),
        element('p', {}, description),
      ),
    ),
    element('div', { class: 'groups' }, ...groups.filter((group) => group !== undefined)),
  );
}

function logoView(logo: string | undefined, theme: 'light' | 'dark', name: string, api: string): HTMLElement {
  const url = safeUrl(logo, api);
  const plate = element('figure', { class: `plate ${theme}` });
  if (url !== undefined) {
    url.searchParams.set('theme', theme);
    url.searchParams.set('size', LOGO_SIZE);
    plate.append(imageView(url, { alt: `Logo of ${name} on a ${theme} ground` }));
  }
  plate.append(element('figcaption', {}, theme === 'light' ? 'Light' : 'Dark'));
  return plate;
}

function imageView({ href }: URL, attributes: Readonly<Record<string, string>>): HTMLElement {
  const image = element('img', { ...attributes, decoding: 'async', referrerpolicy: 'no-referrer' });
  const missing = element('span', { class: 'missing' }, 'The image cannot be loaded.');
  image.addEventListener('error', () => image.replaceWith(missing));
  image.src = href;
  return image;
}

/** Returns the price, its change and its range, and then the other facts of the main listing. */
function marketView(stock: MarketData, priceDate: string | undefined, api: string): HTMLElement | undefined {
  const { price, price_usd, currency, change, change_percentage, market_cap_usd, range } = stock;
  const head = element('div', { class: 'market' });
  if (price !== undefined) head.append(element('strong', {}, money(price, currency)));
  if (change !== undefined || change_percentage !== undefined) {
    const direction = Math.sign(change ?? change_percentage ?? 0);
    const text = [
      ...(change === undefined ? [] : [signed(change, numberText)]),
      ...(change_percentage === undefined ? [] : [signed(change_percentage, percent)]),
    ].join(' · ');
    const kind = direction > 0 ? 'up' : direction < 0 ? 'down' : 'level';
    head.append(element('span', { class: kind }, `${text} in one day`));
  }
  if (price !== undefined && priceDate !== undefined)
    head.append(element('span', { class: 'level' }, `price of ${dateText(priceDate)}`));
  const drawing = range === undefined ? undefined : rangeView(range, price);
  if (drawing !== undefined) head.append(drawing);
  const figures = {
    ...(market_cap_usd === undefined ? {} : { market_cap_usd: money(market_cap_usd, 'USD') }),
    ...(price_usd === undefined || currency === 'USD' ? {} : { price_usd: money(price_usd, 'USD') }),
  };
  const shown = [
    'price',
    'price_usd',
    'change',
    'change_percentage',
    'market_cap_usd',
    'exchange_logo',
    'currency',
  ];
  const facts = [
    ...fieldFacts(figures, api),
    ...fieldFacts(stock, api, drawing === undefined ? shown : [...shown, 'range']),
  ];
  const logo = stock.exchange_logo;
  if (logo !== undefined) facts.push(['Exchange logo', linkView(logo, 'Image', api)]);
  return groupView('Stock', facts, head.childElementCount > 0 ? head : undefined);
}

const signed = (value: number, format: (value: number) => string): string =>
  `${value > 0 ? '+' : value < 0 ? '−' : ''}${format(Math.abs(value))}`;

/** Returns the 52-week range as a line with the price on it. Undefined if the range does not have the form "low-high". */
function rangeView(range: string, price: number | undefined): HTMLElement | undefined {
  const [, low = '', high = ''] = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(range) ?? [];
  const [from, to] = [Number(low), Number(high)];
  if (low === '' || to <= from) return undefined;
  const isInside = price !== undefined && price >= from && price <= to;
  const label = `52-week range: ${numberText(from)} to ${numberText(to)}${isInside ? `, price ${numberText(price)}` : ''}`;
  const drawing = shape('svg', {
    class: 'range',
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: 'img',
    'aria-label': label,
  });
  const y = HEIGHT / 2;
  const placeOf = (value: number) => MARGIN + ((WIDTH - 2 * MARGIN) * (value - from)) / (to - from);
  const line = (x: number, kind: string) =>
    shape('line', { class: kind, x1: String(MARGIN), y1: String(y), x2: String(x), y2: String(y) });
  drawing.append(line(WIDTH - MARGIN, 'span'));
  if (isInside) {
    const x = placeOf(price);
    const circle = shape('circle', { class: 'price', cx: String(x), cy: String(y), r: '6' });
    drawing.append(line(x, 'part'), circle);
  }
  const texts = [numberText(from), '52-week range', numberText(to)];
  const spans = texts.map((text) => element('span', {}, text));
  const ends = element('div', { class: 'ends', 'aria-hidden': 'true' }, ...spans);
  return element('div', { class: 'range-box' }, drawing, ends);
}

function shape(name: string, attributes: Readonly<Record<string, string>>): SVGElement {
  const made = document.createElementNS(SVG, name) as SVGElement;
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
}
