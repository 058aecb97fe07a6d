import { chance } from './chance.ts';

/** How a request to a model server fails. */
export type ServerFault = 'error 500' | 'rate limit' | 'reset' | 'early end';

const kinds: ServerFault[] = ['error 500', 'rate limit', 'reset', 'early end'];

/**
 * Returns a function that says whether a request fails. Unlike the policy it counts the attempts at each request,
 * because a server that refuses a request may accept its repetition.
 */
export function faultsAt(rate: number): (request: string) => ServerFault | undefined {
  const attempts = new Map<string, number>();
  return (request) => {
    const count = (attempts.get(request) ?? 0) + 1;
    attempts.set(request, count);
    if (chance('fault', request, count) >= rate) return undefined;
    return kinds[Math.floor(chance('kind', request, count) * kinds.length)];
  };
}
