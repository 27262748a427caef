import { createApp, createSSRApp } from 'vue';
import App from './app.vue';

const isRendered = document.querySelector('#app')?.hasChildNodes();
(isRendered ? createSSRApp : createApp)(App).mount('#app');
