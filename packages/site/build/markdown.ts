import { Marked, type Token, type Tokens } from 'marked';
import { escapeHtml, rootFrom } from './layout.ts';

interface Guide {
  title: string;
  html: string;
}

/**
 * Turns the Markdown of a guide into HTML. Links that begin with a slash lead to paths of the gateway, and become relative to the
 * page. Every heading gets an id, and the page lists its sections after the first paragraph.
 */
export function guideFrom(markdown: string, path: string): Guide {
  const marked = new Marked({ renderer: rendererFor(path) });
  const tokens = marked.lexer(markdown);
  const [heading] = tokens;
  if (heading?.type !== 'heading' || heading.depth !== 1) throw new Error(`${path} begins without a title`);
  const sections = tokens.filter(isSection).map((each) => `<li>${linkTo(each)}</li>`);
  const intro = tokens.findIndex((token) => isSection(token));
  const html = (part: Token[]) => marked.parser(part);
  const contents =
    sections.length > 1
      ? `<nav class="contents" aria-label="On this page"><ul>${sections.join('')}</ul></nav>\n`
      : '';
  return {
    title: plainText(heading.tokens ?? []),
    html:
      intro < 0
        ? html(tokens)
        : `<div class="intro">${html(tokens.slice(0, intro))}</div>\n${contents}${html(tokens.slice(intro))}`,
  };
}

const isSection = (token: Token): token is Tokens.Heading => token.type === 'heading' && token.depth === 2;

const linkTo = ({ tokens }: Tokens.Heading) => {
  const text = plainText(tokens);
  return `<a href="#${idOf(text)}">${escapeHtml(text)}</a>`;
};

function rendererFor(path: string) {
  return {
    heading(this: { parser: { parseInline(tokens: Token[]): string } }, { tokens, depth }: Tokens.Heading) {
      const text = this.parser.parseInline(tokens);
      if (depth === 1) return `<h1>${text}</h1>\n`;
      const id = idOf(plainText(tokens));
      return `<h${depth} id="${id}"><a href="#${id}">${text}</a></h${depth}>\n`;
    },
    link(this: { parser: { parseInline(tokens: Token[]): string } }, { href, tokens }: Tokens.Link) {
      const to = href.startsWith('/') ? `${rootFrom(path)}${href.slice(1)}` : href;
      return `<a href="${to}">${this.parser.parseInline(tokens)}</a>`;
    },
    code({ text, lang = '' }: Tokens.Code) {
      const label = lang === '' ? 'Example' : `Example in ${LANGUAGES[lang] ?? lang}`;
      return `<pre tabindex="0" role="group" aria-label="${label}"><code class="language-${lang}">${escapeHtml(text)}\n</code></pre>\n`;
    },
    table(this: { parser: { parseInline(tokens: Token[]): string } }, { header, rows }: Tokens.Table) {
      const row = (cells: Tokens.TableCell[], tag: string) =>
        `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag.split(' ')[0]}>`).join('')}</tr>`;
      return `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table><thead>${row(header, 'th scope="col"')}</thead><tbody>${rows.map((cells) => row(cells, 'td')).join('')}</tbody></table></div>\n`;
    },
  };
}

const LANGUAGES: Readonly<Record<string, string>> = {
  html: 'HTML',
  http: 'HTTP',
  js: 'JavaScript',
  json: 'JSON',
  py: 'Python',
  sh: 'a shell',
};

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
