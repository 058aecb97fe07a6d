import type { Octokit } from '../app.ts';

/** A person on GitHub. The id is permanent. The login may belong to somebody else after the person is renamed. */
export interface Person {
  id: number | bigint;
  login: string;
}

export type Right = 'write' | 'read' | 'none';

interface Name {
  owner: string;
  repo: string;
}

/**
 * Returns a person's permission in a repository according to GitHub's collaborator endpoint, and their current login.
 * The endpoint takes a login, so the id in its response shows whether it is about the same person. If not, the person
 * was renamed and is looked up by id. Users unknown to the host have no permissions.
 */
export async function rightOf(
  octokit: Octokit,
  name: Name,
  { id, login }: Person,
): Promise<{ right: Right; login: string }> {
  const found = await permissionOf(octokit, name, login);
  if (found?.userId === Number(id)) return { right: found.right, login };
  const now = await loginOf(octokit, Number(id));
  if (now === undefined || now === login) return { right: 'none', login };
  const renamed = await permissionOf(octokit, name, now);
  return { right: renamed?.userId === Number(id) ? renamed.right : 'none', login: now };
}

/** Returns the person with their current login if they have write permission, otherwise undefined. */
export async function asWriter<P extends Person>(octokit: Octokit, name: Name, person: P): Promise<P | undefined> {
  const { right, login } = await rightOf(octokit, name, person);
  return right === 'write' ? { ...person, login } : undefined;
}

async function permissionOf(octokit: Octokit, { owner, repo }: Name, login: string) {
  const path = 'GET /repos/{owner}/{repo}/collaborators/{username}/permission';
  const data = await unlessMissing(octokit.request(path, { owner, repo, username: login }));
  if (data === undefined) return undefined;
  // `permission` reports maintain as write, and a custom role as its base role. `role_name` has the name of the role.
  const isWriter =
    ['admin', 'write'].includes(data.permission) || ['admin', 'maintain', 'write'].includes(data.role_name);
  const right: Right = data.permission === 'none' ? 'none' : isWriter ? 'write' : 'read';
  // GitHub may leave out the user. In that case, the owner of the login is looked up.
  const userId =
    data.user?.id ?? (await unlessMissing(octokit.request('GET /users/{username}', { username: login })))?.id;
  return { right, userId: Number(userId) };
}

/** Finds the current login of an account. Returns undefined when the account is deleted. */
async function loginOf(octokit: Octokit, id: number): Promise<string | undefined> {
  return (await unlessMissing(octokit.request('GET /user/{account_id}', { account_id: id })))?.login;
}

/** Returns undefined for what GitHub does not have, or does not show us. */
export async function unlessMissing<T>(asked: Promise<{ data: T }>): Promise<T | undefined> {
  try {
    return (await asked).data;
  } catch (error) {
    if ((error as { status?: number }).status === 404) return undefined;
    throw error;
  }
}
