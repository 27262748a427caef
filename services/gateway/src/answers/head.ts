/** Returns the headers as text, each as a line that ends with CRLF. */
export function headText(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}

/** Returns the names and values in a text of headers in turn, as Node's `writeHead` takes them. */
export function namesAndValues(head: string): string[] {
  return head.split('\r\n').flatMap((line) => {
    const colon = line.indexOf(': ');
    return colon < 0 ? [] : [line.slice(0, colon), line.slice(colon + 2)];
  });
}
