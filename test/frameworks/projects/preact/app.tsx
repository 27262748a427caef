import '@brand-data/client/preact';
import { useState } from 'preact/hooks';

export function App() {
  const [identifier, setIdentifier] = useState('AAPL');
  const [loaded, setLoaded] = useState('');
  return (
    <>
      <brand-logo
        identifier={identifier}
        api={API}
        token={TOKEN}
        size={48}
        onbrand-load={({ detail }) => setLoaded(detail.name)}
      />
      <brand-card identifier="AAPL" api={API} token={TOKEN} />
      <button type="button" onClick={() => setIdentifier('OTHR')}>
        Next
      </button>
      <output>{loaded}</output>
    </>
  );
}
