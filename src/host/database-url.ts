/** A server that an address of PostgreSQL names. */
export interface DatabaseHost {
  host: string;
  port: number;
}

export interface DatabaseUrl {
  /** The address with its first host only, and without what pg does not understand. */
  single: string;
  hosts: DatabaseHost[];
  /** Whether only a server that accepts writes will do (`target_session_attrs`). */
  needsWrites: boolean;
}

const shape = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]*)([^#]*)$/;

/**
 * Reads an address of PostgreSQL, which may name several servers as libpq allows it:
 * `postgres://user:password@a,b:5433/name?target_session_attrs=read-write`. Returns undefined if it is malformed.
 */
export function readDatabaseUrl(text: string): DatabaseUrl | undefined {
  const [, before = '', servers = '', rest = ''] = shape.exec(text) ?? [];
  if (before === '') return undefined;
  const names = servers.split(',');
  const parsed = names
    .map((server) => `${before}${server}${rest}`)
    .map((one) => (URL.canParse(one) ? new URL(one) : null));
  const [first] = parsed;
  if (first == null || parsed.includes(null) || (names.length > 1 && names.includes(''))) return undefined;
  const attributes = first.searchParams.get('target_session_attrs');
  if (![null, 'any', 'read-write', 'primary'].includes(attributes)) return undefined;
  first.searchParams.delete('target_session_attrs');
  return {
    single: first.href,
    hosts: parsed.flatMap((url) => (url === null ? [] : [{ host: hostOf(url), port: Number(url.port || 5432) }])),
    needsWrites: attributes === 'read-write' || attributes === 'primary',
  };
}

function hostOf({ hostname, searchParams }: URL): string {
  return searchParams.get('host') ?? decodeURIComponent(hostname).replace(/^\[(.*)\]$/, '$1');
}
