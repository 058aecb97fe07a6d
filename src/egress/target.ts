/** What a client of the proxy wants to reach. The host is in lower case and not checked yet. */
export interface Target {
  host: string;
  port: number;
}

/** Longer hosts are cut where they are shown. No name in the DNS has more characters. */
const maxShown = 253;

/** Reads the target of `CONNECT host:port`. Returns undefined when it has another form. */
export function connectTarget(authority: string): Target | undefined {
  return readAuthority(authority);
}

/** Reads an absolute request target, `http://host/path`. Returns undefined when it has another form. */
export function urlTarget(url: string): (Target & { path: string }) | undefined {
  const [, authority = '', path = ''] = /^http:\/\/([^/?#]*)([/?][\x21\x22\x24-\x7e]*)?$/i.exec(url) ?? [];
  const target = readAuthority(authority, 80);
  return target && { ...target, path: path.startsWith('/') ? path : `/${path}` };
}

/** User names are refused, because `allowed.example.org@example.com` would show another host than it reaches. */
function readAuthority(text: string, usualPort?: number): Target | undefined {
  const [, host = '', digits] = /^(\[[^\]]*\]|[^:@[\]]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const port = digits === undefined ? usualPort : Number(digits);
  if (host === '' || port === undefined || port < 1 || port > 65_535) return undefined;
  return { host: host.toLowerCase(), port };
}

/** Returns a host as it can be shown in a log, a reply and a header: printable ASCII, not too long. */
export function shown(host: string): string {
  const text = host.replace(/[^\x21-\x7e]/g, '?');
  return text.length > maxShown ? `${text.slice(0, maxShown)}...` : text;
}
