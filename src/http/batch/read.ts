import type { App } from '../../app.ts';
import { AppError } from '../../errors.ts';
import { knownError, replyOf } from '../error-reply.ts';
import { validated } from '../request.ts';
import type { Route } from '../route.ts';

/** Reads one address as the caller with this token. Refusals are replies, too. */
type Reader = (app: App, tokenId: string, address: string) => Promise<{ status: number; body: unknown }>;

/** Returns a function that answers reads of these routes like requests of their own. */
export function readerOf(routes: readonly Route[]): Reader {
  const reads = routes.filter(isRead).map((declared) => ({ declared, pattern: patternOf(declared.path) }));
  const find: Find = (path) => {
    for (const { declared, pattern } of reads) {
      const match = pattern.exec(path);
      if (match !== null) return { declared, params: decoded(match.groups ?? {}) };
    }
    throw new AppError(404, 'No such address');
  };
  return async (app, tokenId, address) => {
    try {
      return await read(app, tokenId, address, find);
    } catch (error) {
      const known = knownError(error);
      if (known.status >= 500) app.log.error({ err: error, address: address.split('?')[0] }, 'read failed');
      return { status: known.status, body: replyOf(known) };
    }
  };
}

function isRead({ method, access, isStream, costs, waits }: Route): boolean {
  return method === 'get' && access.kind !== 'public' && !isStream && costs === undefined && waits === undefined;
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/:(\w+)/g, '(?<$1>[^/]+)')}/?$`);
}

function decoded(groups: Record<string, string>): Record<string, string> {
  try {
    return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]));
  } catch {
    throw new AppError(404, 'No such address');
  }
}

type Find = (path: string) => { declared: Route; params: Record<string, string> };

async function read(app: App, tokenId: string, address: string, find: Find) {
  const [path = '', search = ''] = address.split('?', 2);
  const { declared, params } = find(path);
  const query = queryOf(search);
  const context = await declared.access.load(app, { tokenId, params, body: undefined, query });
  const input = { ...context, query: validated(declared, 'query', query), body: undefined };
  const result = await declared.handle(app, input);
  const [status, shape] = declared.reply;
  return { status, body: shape?.parse(declared.paged ? firstPage(result, input.query) : result) };
}

/** Parses a query like Express: a repeated parameter is a list. */
function queryOf(search: string): Record<string, unknown> {
  const params = new URLSearchParams(search);
  return Object.fromEntries(
    [...new Set(params.keys())].map((name) => {
      const values = params.getAll(name);
      return [name, values.length === 1 ? values[0] : values];
    }),
  );
}

/** Removes the extra row that indicates a next page. */
function firstPage(rows: unknown, query: unknown): unknown {
  const { limit } = query as { limit?: number };
  return limit === undefined ? rows : (rows as unknown[]).slice(0, limit);
}
