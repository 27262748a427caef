import { Html, type HtmlPart, html } from '@brand-data/runtime/html';
import hljs from 'highlight.js';
import { Marked, type Token, type Tokens } from 'marked';
import { codeBlock, contents, heading, list } from '../src/parts.ts';
import { rootFrom } from './layout.ts';

interface Guide {
  title: string;
  article: Html;
}

/**
 * Turns the Markdown of a guide into HTML. Links that begin with a slash lead to paths of the gateway, and become relative to the
 * page. Every heading gets an id, and the page lists its sections after the first paragraph.
 */
export function guideFrom(markdown: string, path: string): Guide {
  const marked = new Marked({ renderer: rendererFor(path) });
  const tokens = marked.lexer(markdown);
  const [title] = tokens;
  if (title?.type !== 'heading' || title.depth !== 1) throw new Error(`${path} begins without a title`);
  const sections = tokens.filter(isSection).map(({ tokens }) => plainText(tokens));
  const introEnds = tokens.findIndex(isSection);
  const htmlOf = (part: Token[]) => new Html(marked.parser(part));
  const links = list(sections.map((text) => html`<a href="#${idOf(text)}">${text}</a>`));
  return {
    title: plainText(title.tokens ?? []),
    article:
      introEnds < 0
        ? htmlOf(tokens)
        : html`<div class="intro">${htmlOf(tokens.slice(0, introEnds))}</div>
${sections.length > 1 ? html`${contents('On this page', links)}\n` : undefined}${htmlOf(tokens.slice(introEnds))}`,
  };
}

const EXAMPLE_API = 'https://api.example.com';
const PLACE = 'EXAMPLEAPI';

const isSection = (token: Token): token is Tokens.Heading => token.type === 'heading' && token.depth === 2;

type WithParser = { parser: { parseInline(tokens: Token[]): string } };

function rendererFor(path: string) {
  return {
    heading(this: WithParser, { tokens, depth }: Tokens.Heading) {
      const content = new Html(this.parser.parseInline(tokens));
      if (depth === 1) return html`<h1>${content}</h1>\n`.markup;
      return heading(depth, idOf(plainText(tokens)), content).markup;
    },
    link(this: WithParser, { href, tokens }: Tokens.Link) {
      const to = href.startsWith('/') ? `${rootFrom(path)}${href.slice(1)}` : href;
      return `<a href="${to}">${this.parser.parseInline(tokens)}</a>`;
    },
    code({ text, lang = '' }: Tokens.Code) {
      const language = LIKE[lang] ?? lang;
      // The marks must not divide the URL, in whose place the gateway puts its own.
      const { value } = hljs.highlight(text.replaceAll(EXAMPLE_API, PLACE), { language });
      const marked = new Html(value.replaceAll(PLACE, EXAMPLE_API));
      return codeBlock(text, lang, rootFrom(path), marked).markup;
    },
    table(this: WithParser, { header, rows }: Tokens.Table) {
      const contentOf = ({ tokens }: Tokens.TableCell) => new Html(this.parser.parseInline(tokens));
      const names = header.map(({ tokens }) => plainText(tokens));
      return tableOf(
        names,
        header.map(contentOf),
        rows.map((row) => row.map(contentOf)),
      ).markup;
    },
  };
}

/** Languages whose syntax the build marks like that of another one. */
const LIKE: Readonly<Record<string, string>> = { gs: 'js', powerquery: 'txt', svelte: 'html', vue: 'html' };

/** Returns a table whose rows become blocks on narrow screens, where each cell has the name of its column before it. */
function tableOf(names: string[], columns: HtmlPart[], rows: HtmlPart[][]): Html {
  const head = columns.map((column) => html`<th scope="col" role="columnheader">${column}</th>`);
  const cell = (content: HtmlPart, column: number) =>
    html`<td role="cell" data-column="${names[column]}">${content}</td>`;
  const body = rows.map((cells) => html`<tr role="row">${cells.map(cell)}</tr>\n`);
  return html`<table role="table"><thead role="rowgroup"><tr role="row">${head}</tr></thead><tbody role="rowgroup">${body}</tbody></table>\n`;
}

/** Lower case, without punctuation, hyphens for spaces. */
function idOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s+/g, '-');
}

function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) =>
      'tokens' in token && token.tokens ? plainText(token.tokens) : 'text' in token ? token.text : '',
    )
    .join('');
}
