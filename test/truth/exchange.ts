import type { Description, Json, Operation } from './description.ts';
import type { Schemas } from './schemas.ts';

/** A request of the service to a stand-in for GitHub, and the answer. */
export interface Exchange {
  /** The test file that was running. */
  file: string;
  method: string;
  url: string;
  token: 'app' | 'installation' | 'user' | 'none';
  accept?: string;
  version?: string;
  body: string;
  /** Unset when the connection was closed before the answer. */
  status?: number;
  type?: string;
  location?: string;
  text?: string;
}

/** What a version must be, for GitHub itself and for GitHub Enterprise Server. */
export interface Versions {
  newest: string;
  enterprise: string;
}

/** Splits the base path of GitHub Enterprise Server, `/api/v3`, from the path of an operation. */
export function placeOf(url: string) {
  const { pathname, searchParams } = new URL(url, 'http://github');
  const [, base] = /^(.*?\/api\/v3)\//.exec(pathname) ?? [];
  const isGraphql = /(^|\/api)\/graphql$/.test(pathname);
  // Renamed repositories redirect to the address with their id.
  const below = pathname.slice(base?.length ?? 0).replace(/^\/repositories\/\d+/, '/repos/owner/repository');
  const path = isGraphql ? '/graphql' : below;
  return { path, query: searchParams, isGraphql, isEnterprise: base !== undefined || /\/api\/graphql$/.test(pathname) };
}

/** Returns what GitHub would find wrong with a request. */
export function requestProblems(of: Operation, exchange: Exchange, schemas: Schemas): string[] {
  const { query } = placeOf(exchange.url);
  const problems = [...tokenProblems(of, exchange), ...queryProblems(of, query, schemas)];
  if (of.isDeprecated) problems.push('the operation is deprecated');
  const body = exchange.body === '' ? undefined : parsed(exchange.body);
  if (body === undefined && of.isBodyRequired) problems.push('the body is missing');
  if (body !== undefined && of.body === undefined && Object.keys(body as object).length > 0)
    problems.push('the operation takes no body');
  if (body !== undefined && of.body !== undefined)
    problems.push(...schemas.sent(of.body, body).map((p) => `body: ${p}`));
  return problems;
}

/** Returns what is wrong with the headers that every request needs. */
export function headerProblems({ url, accept, version }: Exchange, versions: Versions): string[] {
  const wanted = placeOf(url).isEnterprise ? versions.enterprise : versions.newest;
  return [
    ...(version === wanted ? [] : [`X-GitHub-Api-Version is ${version} instead of ${wanted}`]),
    ...(accept === 'application/vnd.github+json' ? [] : [`Accept is ${accept}`]),
  ];
}

function tokenProblems(of: Operation, { token, method }: Exchange): string[] {
  const isOfInstallation = of.path.startsWith('/installation/');
  if (of.needsJwt !== (token === 'app')) return [`needs ${of.needsJwt ? 'a JWT' : 'another token'}, not: ${token}`];
  if (isOfInstallation && token !== 'installation') return [`needs the token of an installation, not: ${token}`];
  if (token === 'installation' && !of.isForApps) return ['is not for the tokens of installations'];
  if (token === 'none' && method !== 'GET' && !of.path.startsWith('/app-manifests/')) return ['needs a token'];
  return [];
}

function queryProblems(of: Operation, query: URLSearchParams, schemas: Schemas): string[] {
  const known = of.parameters.filter((each) => each.in === 'query');
  const missing = known.filter(({ name, required }) => required && !query.has(name));
  return [
    ...missing.map(({ name }) => `the parameter ${name} is missing`),
    ...[...query].flatMap(([name, text]) => {
      const parameter = known.find((each) => each.name === name);
      if (parameter === undefined) return pagingOf.has(name) ? [] : [`the parameter ${name} does not exist`];
      const problems = schemas.sent(parameter.schema, typed(text));
      const isText = problems.length > 0 && schemas.sent(parameter.schema, text).length === 0;
      return isText ? [] : problems.map((problem) => `parameter ${name}: ${problem}`);
    }),
  ];
}

/** The parameters of the pages to which `Link` headers lead. */
const pagingOf = new Set(['page', 'per_page', 'cursor', 'after', 'before']);

/** Returns the value that the text of a parameter means. */
function typed(text: string): unknown {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  return text === 'true' || text === 'false' ? text === 'true' : text;
}

/** Statuses that any operation may answer with (docs.github.com, "Troubleshooting the REST API"). */
const general = new Set([301, 304, 307, 400, 401, 403, 404, 422, 429, 451, 500, 502, 503, 504]);

/** Returns in what an answer differs from what GitHub's description allows. */
export function answerProblems(of: Operation, exchange: Exchange, schemas: Schemas): string[] {
  const { status, location } = exchange;
  if (status === undefined) return [];
  const described = of.responses[status];
  if (described === undefined && !general.has(status)) return [`GitHub never answers with status ${status}`];
  if ([301, 302, 307].includes(status) && location === undefined) return ['the redirect has no Location'];
  return status < 300 ? bodyProblems(described ?? {}, exchange, schemas) : [];
}

function bodyProblems(
  { content = {} }: { content?: Record<string, { schema?: Json }> },
  { type = '', text = '' }: Exchange,
  schemas: Schemas,
): string[] {
  const json = 'application/json';
  const [mediaType = ''] = json in content ? [json] : Object.keys(content);
  const schema = content[mediaType]?.schema;
  if (mediaType === '' || isPage(type, mediaType, text)) return [];
  if (!type.startsWith(mediaType)) return [`the content type is ${type || 'missing'} instead of ${mediaType}`];
  if (schema === undefined || mediaType !== json) return [];
  const value = parsed(text);
  return value === undefined ? ['the answer is not JSON'] : schemas.answered(schema, value);
}

/** Tests let proxies answer instead of GitHub. */
const isPage = (type: string, wanted: string, text: string) =>
  type.startsWith('text/html') && wanted !== 'text/html' && text.trimStart().startsWith('<');

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Counts the fields of a JSON text. */
export function fieldsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, each) => sum + fieldsIn(each), 0);
}

export function operationOf(description: Description, { method, url }: Exchange): Operation | undefined {
  return description.at(method, placeOf(url).path);
}
