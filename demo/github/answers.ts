import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RareAnswer } from './rare-states.ts';

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
