import type { Answer, Asked } from './answers.ts';

/** What these answers need of the front. */
interface Around {
  reactions: { subject: string; content: string; by?: string }[];
  /** Who resolved a thread, by the number of its first comment. */
  resolved: Map<number, string>;
  call(method: string, path: string, authorization: string): Promise<Response>;
}

const usersHave = [
  ...['login', 'id', 'node_id', 'avatar_url', 'gravatar_id', 'url', 'html_url', 'followers_url', 'following_url'],
  ...['gists_url', 'starred_url', 'subscriptions_url', 'organizations_url', 'repos_url', 'events_url'],
  ...['received_events_url', 'type', 'site_admin'],
];

/** Lists the reactions of people to a comment of a review. */
export async function listReactions({ reactions, call }: Around, { path }: Asked): Promise<Answer> {
  const { pathname, searchParams } = new URL(path, 'http://github');
  const wanted = searchParams.get('content');
  const subject = pathname.replace(/\/reactions$/, '');
  const json = [];
  for (const [i, { subject: of, content, by = '' }] of reactions.entries()) {
    if (of !== subject || (wanted !== null && wanted !== content)) continue;
    const answer = await call('GET', '/user', by);
    if (!answer.ok) continue;
    const person = Object.entries((await answer.json()) as object).filter(([field]) => usersHave.includes(field));
    const user = Object.fromEntries(person);
    json.push({ id: i + 1, node_id: `REA_${i + 1}`, user, content, created_at: '2026-01-01T00:00:00Z' });
  }
  return { status: 200, json };
}

/** Handles a GraphQL query of the service: which threads of a pull request are resolved, and by whom. */
export async function readResolved({ resolved, call }: Around, { body, authorization }: Asked): Promise<Answer> {
  const { owner, repo, number } = JSON.parse(body).variables;
  const answer = await call('GET', `/repos/${owner}/${repo}/pulls/${number}/comments?per_page=100`, authorization);
  const nodes = [];
  for (const { id, in_reply_to_id } of (await answer.json()) as { id: number; in_reply_to_id?: number | null }[]) {
    if (in_reply_to_id) continue;
    const login = resolved.get(id);
    const person = login === undefined ? undefined : await (await call('GET', `/users/${login}`, authorization)).json();
    const resolvedBy = person === undefined ? null : { login, databaseId: (person as { id: number }).id };
    nodes.push({
      isResolved: login !== undefined,
      isOutdated: false,
      resolvedBy,
      comments: { nodes: [{ databaseId: id }] },
    });
  }
  return { status: 200, json: { data: { repository: { pullRequest: { reviewThreads: { nodes } } } } } };
}
