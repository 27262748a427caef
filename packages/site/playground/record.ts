import type { FlatRecord, GroupedRecord, MarketData, RecordAnswer } from '@brand-data/client/source';
import { element, safeUrl } from '@brand-data/client/source/dom';
import { html, svg, type TemplateResult } from 'lit-html';
import { fieldFacts, groupView, linkView, type View } from './facts.ts';
import { dateText, labelOf, money, numberText, percent, TYPES } from './figures.ts';

const LOGO_SIZE = '256';
/** The groups of a grouped record whose facts are shown as they are. */
const GROUPS = ['company', 'ownership', 'offerings', 'history', 'transport', 'links'] as const;

/** Returns a grouped record as a person reads it. `priceDate` is the day of its price. */
export function groupedView(
  { data: record, priceDate }: RecordAnswer<GroupedRecord>,
  api: string,
): TemplateResult {
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
export function flatView({ data: record, priceDate }: RecordAnswer<FlatRecord>, api: string): TemplateResult {
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
  groups: readonly View[],
): TemplateResult {
  const listing = [exchange, symbol].filter((part) => part != null && part !== '').join(': ');
  const badges = new Set([TYPES[type] ?? type, listing, category === undefined ? '' : labelOf(category)]);
  badges.delete('');
  return html`<article class="record" aria-labelledby="record-name">
${imageView(safeUrl(banner, api), `Banner of ${name}`, 'banner')}
<div class="head">
<div class="logos">${plateView(logo, 'light', name, api)}${plateView(logo, 'dark', name, api)}</div>
<div class="who">
<h3 id="record-name">${name}</h3>
<ul class="badges" aria-label="What it is">${[...badges].map((text) => html`<li>${text}</li>`)}</ul>
<p>${description}</p>
</div>
</div>
<div class="groups">${groups}</div>
</article>`;
}

function plateView(logo: string | undefined, theme: 'light' | 'dark', name: string, api: string): View {
  const url = safeUrl(logo, api);
  url?.searchParams.set('theme', theme);
  url?.searchParams.set('size', LOGO_SIZE);
  return html`<figure class="plate ${theme}">
${imageView(url, `Logo of ${name} on a ${theme} ground`)}
<figcaption>${theme === 'light' ? 'Light' : 'Dark'}</figcaption>
</figure>`;
}

function imageView(url: URL | undefined, alt: string, kind = ''): View {
  const onError = ({ target }: { target: Element }) =>
    target.replaceWith(element('span', { class: 'missing' }, 'The image cannot be loaded.'));
  return (
    url &&
    html`<img class=${kind} alt=${alt} decoding="async" referrerpolicy="no-referrer" src=${url.href} @error=${onError}>`
  );
}

/** Returns the price, its change and its range, and then the other facts of the main listing. */
function marketView(stock: MarketData, priceDate: string | undefined, api: string): View {
  const { price, price_usd, currency, change, change_percentage, market_cap_usd, range } = stock;
  const drawing = range === undefined ? undefined : rangeView(range, price);
  const moved = change ?? change_percentage;
  const parts: View[] = [
    price === undefined ? undefined : html`<strong>${money(price, currency)}</strong>`,
    moved === undefined ? undefined : changeView(moved, stock),
    price !== undefined && priceDate !== undefined
      ? html`<span class="level">price of ${dateText(priceDate)}</span>`
      : undefined,
    drawing,
  ];
  const figures = {
    ...(market_cap_usd === undefined ? {} : { market_cap_usd: money(market_cap_usd, 'USD') }),
    ...(price_usd === undefined || currency === 'USD' ? {} : { price_usd: money(price_usd, 'USD') }),
  };
  const shown = `price price_usd change change_percentage market_cap_usd exchange_logo currency`.split(' ');
  const facts = [
    ...fieldFacts(figures, api),
    ...fieldFacts(stock, api, drawing === undefined ? shown : [...shown, 'range']),
  ];
  const logo = stock.exchange_logo;
  if (logo !== undefined) facts.push(['Exchange logo', linkView(logo, 'Image', api)]);
  const isEmpty = parts.every((part) => part === undefined);
  return groupView('Stock', facts, isEmpty ? undefined : html`<div class="market">${parts}</div>`);
}

function changeView(moved: number, { change, change_percentage }: MarketData): View {
  const texts = [
    ...(change === undefined ? [] : [signed(change, numberText)]),
    ...(change_percentage === undefined ? [] : [signed(change_percentage, percent)]),
  ];
  const kind = moved > 0 ? 'up' : moved < 0 ? 'down' : 'level';
  return html`<span class=${kind}>${texts.join(' · ')} in one day</span>`;
}

const signed = (value: number, format: (value: number) => string): string =>
  `${value > 0 ? '+' : value < 0 ? '−' : ''}${format(Math.abs(value))}`;

/** Returns the 52-week range as a line with the price on it. Undefined if the range does not have the form "low-high". */
function rangeView(range: string, price: number | undefined): View {
  const [, low = '', high = ''] = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(range) ?? [];
  const [from, to] = [Number(low), Number(high)];
  if (low === '' || to <= from) return undefined;
  const isInside = price !== undefined && price >= from && price <= to;
  const label = `52-week range: ${numberText(from)} to ${numberText(to)}${isInside ? `, price ${numberText(price)}` : ''}`;
  const x = isInside ? 8 + (284 * (price - from)) / (to - from) : 0;
  const mark = svg`<line class="part" x1="8" y1="12" x2=${x} y2="12"/><circle class="price" cx=${x} cy="12" r="6"/>`;
  return html`<div class="range-box">
<svg class="range" viewBox="0 0 300 24" role="img" aria-label=${label}><line class="span" x1="8" y1="12" x2="292" y2="12"/>${isInside ? mark : undefined}</svg>
<div class="ends" aria-hidden="true"><span>${numberText(from)}</span><span>52-week range</span><span>${numberText(to)}</span></div>
</div>`;
}
