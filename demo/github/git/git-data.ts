import type { Answer, Asked } from '../answers.ts';
import type { RareStates } from '../rare-states.ts';
import { gitIn } from './git-objects.ts';

/** What the endpoints of git's data need from the front. */
export interface AroundGitData {
  git: {
    /** Moves a branch through the API, and reports it as a push. */
    movingBranch(name: string, token: string, to: BranchMove, act: () => Promise<Response>): Promise<Response>;
  };
  /** Returns the folder of the bare repository `owner/name`. */
  folderOf(name: string): string;
  /** Returns the commits of `owner/name` that GitHub has made, and signed. */
  signedIn(name: string): Set<string>;
  rare: Pick<RareStates, 'signsCommits'>;
  call(method: string, path: string, authorization: string, body?: string): Promise<Response>;
}

/** A branch, by its full ref, and the commit that it should point to. */
export interface BranchMove {
  ref: string;
  sha: string;
}

const tokenIn = (authorization: string) => authorization.replace(/^(token|bearer) /i, '');
const nameIn = (path: string) => path.split('/').slice(2, 4).join('/');

/** Makes a commit. GitHub signs those of an App's bot, which are the ones for which an App names neither author nor committer. */
export async function makeCommit(around: AroundGitData, { path, authorization, body, host }: Asked): Promise<Answer> {
  const given = JSON.parse(body) as { author?: object; committer?: object };
  const isOfBot =
    tokenIn(authorization).startsWith('ghs_') && given.author === undefined && given.committer === undefined;
  const people = isOfBot ? await peopleOf(around, authorization, host) : {};
  const made = await around.call('POST', path, authorization, JSON.stringify({ ...given, ...people }));
  const json = (await made.json()) as { sha: string };
  if (!made.ok || !isOfBot || !around.rare.signsCommits) return { status: made.status, json };
  around.signedIn(nameIn(path)).add(json.sha);
  return { status: 201, json: { ...json, verification } };
}

/** Shows a commit. Those that GitHub has signed are verified. */
export async function readCommit(around: AroundGitData, { path, authorization }: Asked): Promise<Answer> {
  const found = await around.call('GET', path, authorization);
  const json = (await found.json()) as { sha: string };
  const isSigned = found.ok && around.signedIn(nameIn(path)).has(json.sha);
  return { status: found.status, json: isSigned ? { ...json, verification } : json };
}

/** The emulator computes ids without a signature, so only the answers have one. */
const verification = {
  verified: true,
  reason: 'valid',
  signature: '-----BEGIN PGP SIGNATURE-----\n\nbm90IGEgc2lnbmF0dXJl\n-----END PGP SIGNATURE-----\n',
  payload: 'tree and so on',
  verified_at: '2026-01-01T00:00:00Z',
};

async function peopleOf({ call }: AroundGitData, authorization: string, host: string) {
  const login = 'deckhand[bot]';
  const { id } = (await (await call('GET', `/users/${encodeURIComponent(login)}`, authorization)).json()) as {
    id: number;
  };
  return {
    author: { name: login, email: `${id}+${login}@users.noreply.${new URL(`http://${host}`).hostname}` },
    committer: { name: 'GitHub', email: 'noreply@github.com' },
  };
}

/** Lists the refs outside of branches and tags, which the emulator does not know, in GitHub's form. */
export async function matchingRefs(
  { call, folderOf }: AroundGitData,
  { path, authorization, host }: Asked,
): Promise<Answer> {
  const [repository = '', prefix = ''] = path.split('/git/matching-refs/');
  const readable = await call('GET', repository, authorization);
  if (!readable.ok) return { status: readable.status, json: await readable.json() };
  const wanted = `refs/${decodeURIComponent(prefix)}`;
  const format = '--format=%(refname) %(objectname) %(objecttype)';
  const listed = (await gitIn(folderOf(nameIn(path)), ['for-each-ref', format])).toString('utf8').split('\n');
  const api = `http://${host}${repository}/git`;
  const json = listed
    .filter((line) => line.startsWith(wanted))
    .map((line) => {
      const [ref = '', sha, type] = line.split(' ');
      const node_id = Buffer.from(ref).toString('base64');
      return { ref, node_id, url: `${api}/${ref}`, object: { type, sha, url: `${api}/${type}s/${sha}` } };
    });
  return { status: 200, json };
}

/** Deletes a ref outside of branches and tags. */
export async function deleteRef({ call, folderOf }: AroundGitData, { path, authorization }: Asked): Promise<Answer> {
  const [repository = '', short = ''] = path.split('/git/refs/');
  const readable = await call('GET', repository, authorization);
  if (!readable.ok) return { status: readable.status, json: await readable.json() };
  const [folder, ref] = [folderOf(nameIn(path)), `refs/${decodeURIComponent(short)}`];
  const found = (await gitIn(folder, ['for-each-ref', '--format=%(refname)', ref])).toString('utf8').trim();
  if (found !== ref) return { status: 422, json: { message: 'Reference does not exist' } };
  await gitIn(folder, ['update-ref', '-d', ref]);
  return { status: 204, json: undefined, text: '' };
}

/** Creates a branch or moves it. Other refs are the emulator's alone. */
export async function moveRef(around: AroundGitData, { method, path, authorization, body }: Asked): Promise<Answer> {
  const act = () => around.call(method, path, authorization, body);
  const { sha, ref: created } = JSON.parse(body) as { sha: string; ref?: string };
  const ref = created ?? `refs/${decodeURIComponent(path.split('/git/refs/')[1] ?? '')}`;
  const answer = await (ref.startsWith('refs/heads/')
    ? around.git.movingBranch(nameIn(path), tokenIn(authorization), { ref, sha }, act)
    : act());
  const json = (await answer.json()) as { message?: string };
  // GitHub's words.
  if (method === 'PATCH' && answer.status === 404)
    return { status: 422, json: { message: 'Reference does not exist' } };
  if (json.message === 'Update is not a fast-forward') json.message = 'Update is not a fast forward';
  return { status: answer.status, json };
}
