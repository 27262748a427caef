import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import sirv from 'sirv';

const IMAGE = /\.(svg|png|jpg|webp)(\?|$)/;

export interface LogoHost {
  /** The base URL of image paths. */
  url: string;
  stop(): Promise<void>;
}

/**
 * Serves only the images below `folder`, on 127.0.0.1. Callers may cache an image forever, because a path's image never changes.
 */
export async function startLogoHost({ folder, port }: { folder: string; port: number }): Promise<LogoHost> {
  const server = createServer(imagesBelow(folder));
  server.requestTimeout = 5_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function imagesBelow(folder: string) {
  const serveFile = sirv(folder, {
    // Imports add images while this server runs. With `dev` sirv looks for a file at each request.
    dev: true,
    extensions: [],
    setHeaders(response) {
      response.setHeader('Cache-Control', 'public, max-age=31536000, immutable');
      // If a browser opens an SVG as a page, the SVG must not run scripts.
      response.setHeader('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
    },
  });
  return (request: IncomingMessage, response: ServerResponse) => {
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { Allow: 'GET, HEAD' }).end();
      return;
    }
    // The server ignores ranges and sends the whole image, because sirv throws at a range that ends before it begins.
    delete request.headers.range;
    const notFound = () => {
      response.writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' }).end('no such image\n');
    };
    if (IMAGE.test(request.url ?? '')) serveFile(request, response, notFound);
    else notFound();
  };
}
