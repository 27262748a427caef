import '@brand-data/client/elements';
import { html, LitElement } from 'lit';

class App extends LitElement {
  static override properties = { identifier: { state: true }, loaded: { state: true } };
  declare identifier: string;
  declare loaded: string;

  constructor() {
    super();
    this.identifier = 'AAPL';
    this.loaded = '';
  }

  protected override createRenderRoot() {
    return this;
  }

  protected override render() {
    return html`
      <brand-logo
        .identifier=${this.identifier}
        api=${API}
        token=${TOKEN}
        .size=${48}
        @brand-load=${({ detail }: CustomEvent) => {
          this.loaded = detail.name;
        }}
      ></brand-logo>
      <brand-card identifier="AAPL" .api=${API} .token=${TOKEN}></brand-card>
      <button type="button" @click=${this.#next}>Next</button>
      <output>${this.loaded}</output>
    `;
  }

  #next() {
    this.identifier = 'OTHR';
  }
}

customElements.define('test-app', App);
document.querySelector('#app')?.append(new App());
