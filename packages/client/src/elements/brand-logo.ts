import { BrandElement, type ElementState } from './brand-element.ts';
import { element } from './dom.ts';
import { HOST_STYLES, letterOf, logoOf, PICTURE_STYLES, skeleton, themeOf } from './picture.ts';

const STYLES = `
${HOST_STYLES}
.box { display: block; }
${PICTURE_STYLES}
`;

/** `<brand-logo identifier="AAPL" token="pk_…">`: the company's logo in a square. */
export class BrandLogo extends BrandElement {
  constructor() {
    super(STYLES);
  }

  /** The side of the square. */
  protected override get sizes() {
    return { usual: 64, least: 1, most: 512 };
  }

  protected override render(state: ElementState): void {
    const { identifier, api, size } = this;
    const name = state.kind === 'found' ? state.record.name : identifier;
    const box = element('span', { class: 'frame box', part: 'box' });
    box.style.fontSize = `${size}px`;
    if (state.kind !== 'empty') {
      box.role = 'img';
      box.ariaLabel = name;
    }
    if (state.kind === 'loading') box.ariaBusy = 'true';
    this.root.replaceChildren(box);
    box.append(
      state.kind === 'found'
        ? logoOf({ url: state.record.logo, size, theme: themeOf(box), api, name })
        : state.kind === 'failed'
          ? letterOf(name)
          : skeleton(state.kind),
    );
  }
}
