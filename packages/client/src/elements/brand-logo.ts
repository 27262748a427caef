import { BrandElement, type ElementState } from './brand-element.ts';
import { element, styleSheet } from './dom.ts';
import { HOST_STYLES, letterOf, logoOf, PICTURE_STYLES, skeleton } from './picture.ts';

const DEFAULT_SIZE = 64;
const LARGEST_SIZE = 512;

const styles = styleSheet(`
${HOST_STYLES}
.box { display: block; }
${PICTURE_STYLES}
`);

/** `<brand-logo identifier="AAPL" token="pk_…">`: the company's logo in a square. */
export class BrandLogo extends BrandElement {
  constructor() {
    super(styles);
  }

  protected override render(state: ElementState): void {
    const { identifier, api, theme } = this;
    const size = this.#size;
    const name = state.kind === 'found' ? state.record.name : identifier;
    const box = element('span', { class: 'box', part: 'box' });
    box.style.fontSize = `${size}px`;
    if (state.kind !== 'empty') {
      box.role = 'img';
      box.ariaLabel = name;
    }
    if (state.kind === 'loading') box.ariaBusy = 'true';
    box.append(
      state.kind === 'found'
        ? logoOf({ url: state.record.logo, size, theme, api, name })
        : state.kind === 'failed'
          ? letterOf(name)
          : skeleton(),
    );
    this.root.replaceChildren(box);
  }

  /** The side of the square, in CSS pixels. */
  get #size(): number {
    const size = Number(this.getAttribute('size') ?? DEFAULT_SIZE);
    return size >= 1 && size <= LARGEST_SIZE ? size : DEFAULT_SIZE;
  }
}
