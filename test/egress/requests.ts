/** A host that the proxy of these tests allows. */
export const open = 'allowed.example.org';

export const connecting = (authority: string) => `CONNECT ${authority} HTTP/1.1\r\nHost: x\r\n\r\n`;

/** A request for this URL, whose `Host` header may name another host. */
export const getting = (url: string, host = open, more = '') =>
  `GET ${url} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${more}\r\n`;

/** A request as an honest client sends it. */
export const get = (url: string, more = 'Connection: close\r\n') =>
  `GET ${url} HTTP/1.1\r\nHost: ${new URL(url, `http://${open}`).host}\r\n${more}\r\n`;
