import type { Answer, Asked } from './answers.ts';
import type { RareStates } from './rare-states.ts';

interface Around {
  call(method: string, path: string, authorization: string, body?: string): Promise<Response>;
  rare: RareStates;
}

/**
 * Reads a person's permission in a repository. The emulator finds nothing for people without a role, where GitHub answers
 * `read` in a public repository and `none` in a private one
 * (docs.github.com/rest/collaborators/collaborators#get-repository-permissions-for-a-user).
 */
export async function readPermission({ call }: Around, { path, authorization }: Asked): Promise<Answer> {
  const found = await call('GET', path, authorization);
  if (found.status !== 404) return { status: found.status, json: await found.json() };
  const [, repository = '', login = ''] = /^(\/repos\/[^/]+\/[^/]+)\/collaborators\/([^/]+)/.exec(path) ?? [];
  const [about, person] = [
    await call('GET', repository, authorization),
    await call('GET', `/users/${login}`, authorization),
  ];
  if (!about.ok || !person.ok) return { status: 404, json: { message: 'Not Found' } };
  const isPublic = !((await about.json()) as { private: boolean }).private;
  const permission = isPublic ? 'read' : 'none';
  return { status: 200, json: { permission, role_name: isPublic ? 'read' : '', user: await person.json() } };
}

/** Returns whether somebody may write to the repository of a path. */
async function mayWrite({ call }: Around, { path, authorization }: Asked, login: string): Promise<boolean> {
  const repository = path.split('/').slice(0, 4).join('/');
  const answer = await call('GET', `${repository}/collaborators/${login}/permission`, authorization);
  const { role_name = 'none' } = (await answer.json()) as { role_name?: string };
  return answer.ok && ['admin', 'maintain', 'write'].includes(role_name);
}

/** Asks for reviews. GitHub refuses all if it refuses one: the author, or who is neither collaborator nor reviewer. */
export async function askReviewers(around: Around, asked: Asked): Promise<Answer> {
  const { path, authorization, body } = asked;
  const of = path.replace(/\/requested_reviewers$/, '');
  const read = async (from: string) => (await around.call('GET', from, authorization)).json();
  const { user } = (await read(of)) as { user?: { login: string } };
  const reviews = (await read(`${of}/reviews`)) as { user: { login: string } }[];
  const refused = (message: string) => ({ status: 422, json: { message } });
  for (const login of (JSON.parse(body) as { reviewers?: string[] }).reviewers ?? []) {
    if (login === user?.login) return refused('Review cannot be requested from pull request author.');
    const isKnown = Array.isArray(reviews) && reviews.some((review) => review.user.login === login);
    if (!isKnown && !(await mayWrite(around, asked, login)))
      return refused(
        `Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the ${path.split('/').slice(2, 4).join('/')} repository.`,
      );
  }
  const answer = await around.call('POST', path, authorization, body);
  return { status: answer.ok ? 201 : answer.status, json: await answer.json() };
}

/** Assigns people to an issue or a pull request. GitHub ignores those who may not be assigned. */
export async function assign(around: Around, asked: Asked): Promise<Answer> {
  const { path, authorization, body } = asked;
  const of = path.replace(/\/assignees$/, '');
  const number = Number(/\d+$/.exec(of)?.[0]);
  const assigned = around.rare.assigned.get(number) ?? [];
  for (const login of (JSON.parse(body) as { assignees?: string[] }).assignees ?? []) {
    const person = await around.call('GET', `/users/${login}`, authorization);
    if (!person.ok) return { status: 404, json: { message: 'Not Found' } };
    if (!(await mayWrite(around, asked, login))) continue;
    const { id, node_id, avatar_url, url, html_url, type } = (await person.json()) as Record<string, unknown>;
    assigned.push({ login, id, node_id, avatar_url, url, html_url, type });
  }
  around.rare.assigned.set(number, assigned);
  return { status: 201, json: { number, assignees: assigned } };
}
