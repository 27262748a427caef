import '@brand-data/client/solid';
import { createSignal } from 'solid-js';
import { render } from 'solid-js/web';

function App() {
  const [identifier, setIdentifier] = createSignal('AAPL');
  const [loaded, setLoaded] = createSignal('');
  return (
    <>
      <brand-logo
        identifier={identifier()}
        api={API}
        token={TOKEN}
        size={48}
        on:brand-load={({ detail }) => setLoaded(detail.name)}
      />
      <brand-card identifier="AAPL" api={API} token={TOKEN} />
      <button type="button" onClick={() => setIdentifier('OTHR')}>
        Next
      </button>
      <output>{loaded()}</output>
    </>
  );
}

const place = document.querySelector('#app');
if (place) render(App, place);
