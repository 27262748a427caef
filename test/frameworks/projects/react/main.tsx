import { createRoot, hydrateRoot } from 'react-dom/client';
import { App } from './app.tsx';

const place = document.querySelector('#app');
if (place?.hasChildNodes()) hydrateRoot(place, <App />, { onRecoverableError: reportError });
else if (place) createRoot(place).render(<App />);
