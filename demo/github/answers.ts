import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RareAnswer } from './rare-states.ts';

/** A request to GitHub's API. */
export interface Asked {
  method: string;
  /** The host that was asked, for links to other pages. */
  host: string;
  path: string;
  authorization: string;
  body: string;
}

/** What the front answers itself. */
export interface Answer {
  status: number;
  json: unknown;
  headers?: Record<string, string>;
  /** Sent instead of `json`. */
  text?: string;
}

/** Returns the path below which GitHub has its API. */
export const basePathOf = ({ url = '' }: IncomingMessage) => (url.startsWith('/api/v3/') ? '/api/v3' : '');

/** Git shows answers that are plain text. */
export function forGit({ status, json, headers }: RareAnswer) {
  return { status, headers: { 'content-type': 'text/plain', ...headers }, text: json.message ?? '' };
}

/** Ends a response with an answer of the front itself. */
export function end(
  res: ServerResponse,
  answer: { status: number; headers?: Record<string, string>; text: string },
): void {
  res.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(answer.text);
}

/** Returns the status of an answer. The emulator has another one for requested reviewers and for new reviews. */
export const answeredStatus = (path: string, { ok, status }: Response) => {
  if (ok && path.endsWith('/requested_reviewers')) return 201;
  return ok && path.endsWith('/reviews') ? 200 : status;
};

export function jsonAnswer(status: number, json: unknown) {
  return { status, headers: { 'content-type': 'application/json' }, text: JSON.stringify(json) };
}

/** Returns the body of a request of GraphQL, and nothing for other requests. */
export async function queryOf(path: string, req: IncomingMessage): Promise<string> {
  return path === '/graphql' ? textOf(req) : '';
}

/** Reads the rest of a request's body, after what was read of it. */
export async function textOf(req: IncomingMessage, before = ''): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return before + Buffer.concat(chunks).toString('utf8');
}

/**
 * Returns why GitHub refuses a request with 422 whose texts are too long; undefined if they are not. It counts characters of bodies
 * and titles, and bytes of the output of check runs.
 */
export function tooLong(method: string, path: string, body = ''): object | undefined {
  if (!['POST', 'PATCH'].includes(method) || !/^\/(repos|repositories)\//.test(path) || !body.startsWith('{'))
    return undefined;
  const { title, body: text, output } = JSON.parse(body) as Record<string, unknown>;
  const problems = [
    ...(longer(text, 65_536)
      ? [{ code: 'custom', field: 'body', message: 'body is too long (maximum is 65536 characters)' }]
      : []),
    ...(longer(title, 256)
      ? [{ code: 'custom', field: 'title', message: 'title is too long (maximum is 256 characters)' }]
      : []),
    ...Object.entries(output ?? {}).flatMap(([field, value]) =>
      Buffer.byteLength(String(value)) > 65_535
        ? [{ resource: 'CheckRun', code: 'custom', field, message: `${field} exceeds a maximum bytesize of 65535` }]
        : [],
    ),
  ];
  return problems.length === 0 ? undefined : { message: 'Validation Failed', errors: problems };
}

const longer = (text: unknown, max: number) => typeof text === 'string' && [...text].length > max;
