import { AnswerRefused } from '../errors.ts';

const redirects = [301, 302, 303, 307, 308];

/** A repository as an address of GitHub's API names it. */
interface Place {
  /** The address below which the API is. */
  api: string;
  /** `/repos/owner/name` or `/repositories/number`, in lower case. */
  repository: string;
}

function placeOf({ origin, pathname }: URL): Place | undefined {
  const [, api, repository] = /^(.*?)(\/repos\/[^/]+\/[^/]+|\/repositories\/\d+)(?=\/|$)/.exec(pathname) ?? [];
  return repository === undefined ? undefined : { api: `${origin}${api}`, repository: repository.toLowerCase() };
}

/** Returns the repository in which a request changes something; undefined for other requests. */
function placeOfChange(input: string | URL | Request, { method = 'GET', redirect }: RequestInit): Place | undefined {
  const mayBe = !/^(get|head)$/i.test(method) && redirect !== 'manual' && !(input instanceof Request);
  return mayBe ? placeOf(new URL(input)) : undefined;
}

/** Returns the target of a redirect; undefined for other responses. */
function targetOf({ status, headers }: Response, from: URL): URL | undefined {
  const location = headers.get('location');
  if (!redirects.includes(status) || location === null) return undefined;
  if (!URL.canParse(location, from.href)) throw new AnswerRefused('redirects to an invalid address');
  return new URL(location, from.href);
}

/**
 * Returns a `fetch` for GitHub that makes a change only in the repository that it was asked for. GitHub redirects the address
 * of a transferred issue to that in its new repository, where nobody asked for the change. Such a redirect counts as 410: what
 * is at the address is gone from there. A renamed repository keeps its number, so a redirect to that number is followed. `send`
 * must obey `redirect: 'manual'`.
 * @throws AnswerRefused for a redirect within the repository that may turn the change into something else
 */
export function changesInPlace(send: typeof fetch): typeof fetch {
  return async (input, init = {}) => {
    const place = placeOfChange(input, init);
    if (place === undefined || input instanceof Request) return send(input, init);
    const answer = await send(input, { ...init, redirect: 'manual' });
    const next = targetOf(answer, new URL(input));
    if (next === undefined) return answer;
    const refusal = await refusalOf(send, place, next, init);
    if (refusal !== undefined) return refusal;
    const moved = answer.status < 307 ? answer : await send(next, { ...init, redirect: 'manual' });
    if (targetOf(moved, next) !== undefined) throw new AnswerRefused('redirects too often or in an unsupported way');
    return moved;
  };
}

/** Returns what stands for a redirect that leaves the repository, or of which that is unknown; undefined for others. */
async function refusalOf(send: typeof fetch, { api, repository }: Place, next: URL, init: RequestInit) {
  const there = placeOf(next);
  if (there?.api !== api) return elsewhere();
  if (there.repository === repository) return undefined;
  const number = await numberOf(send, `${api}${repository}`, init);
  if (number instanceof Response) return number;
  return there.repository === `/repositories/${number}` ? undefined : elsewhere();
}

/** Asks for the number of a repository. Returns the response if GitHub does not say it. */
async function numberOf(send: typeof fetch, url: string, { headers, signal }: RequestInit): Promise<string | Response> {
  const { 'content-type': _, ...asked } = Object.fromEntries(new Headers(headers));
  const answer = await send(url, { headers: asked, signal: signal ?? null });
  if (!answer.ok) return answer;
  const { id } = (await answer.json()) as { id?: unknown };
  return String(id);
}

function elsewhere(): Response {
  const message =
    'GitHub redirects this change to another repository, for example because the issue was transferred. It was not made';
  return Response.json({ message }, { status: 410 });
}
