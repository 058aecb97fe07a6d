import type { Octokit } from '../app.ts';

/** Somebody on GitHub: their number stays theirs, their login may belong to somebody else by now. */
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
 * What a person may do on a repository by GitHub's collaborator endpoint, and their login as it is now. GitHub is asked
 * by login, so the number in its answer decides whether it speaks of the same person; who was renamed is looked up by
 * number. People whom the repository does not know have no right.
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

/** The person under their login of now, if they have write permission. */
export async function asWriter<P extends Person>(octokit: Octokit, name: Name, person: P): Promise<P | undefined> {
  const { right, login } = await rightOf(octokit, name, person);
  return right === 'write' ? { ...person, login } : undefined;
}

async function permissionOf(octokit: Octokit, name: Name, login: string) {
  const path = 'GET /repos/{owner}/{repo}/collaborators/{username}/permission';
  const data = await unlessUnknown(octokit.request(path, { ...name, username: login }));
  if (data === undefined) return undefined;
  // `permission` folds maintain into write and custom roles into their base; `role_name` names the plain roles.
  const isWriter =
    ['admin', 'write'].includes(data.permission) || ['admin', 'maintain', 'write'].includes(data.role_name);
  const right: Right = isWriter ? 'write' : data.permission === 'none' ? 'none' : 'read';
  // GitHub may leave the person out; then the login says of whom it spoke.
  const userId =
    data.user?.id ?? (await unlessUnknown(octokit.request('GET /users/{username}', { username: login })))?.id;
  return { right, userId: Number(userId) };
}

/** The login that an account has now; undefined when it is gone. */
async function loginOf(octokit: Octokit, id: number): Promise<string | undefined> {
  return (await unlessUnknown(octokit.request('GET /user/{account_id}', { account_id: id })))?.login;
}

async function unlessUnknown<T>(asked: Promise<{ data: T }>): Promise<T | undefined> {
  try {
    return (await asked).data;
  } catch (error) {
    if ((error as { status?: number }).status === 404) return undefined;
    throw error;
  }
}
