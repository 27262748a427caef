import { createSSRApp } from 'vue';
import { renderToString } from 'vue/server-renderer';
import App from './app.vue';

export const html = () => renderToString(createSSRApp(App));
