import type { App, Octokit } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import type { Remote } from '../../git/engine.ts';
import { openAddress } from '../../git/remote-url.ts';
import { pinnedFetch } from '../../outgoing/pinned-fetch.ts';
import { type Credential, hostRules, octokitFor, remoteFor } from '../../repositories/credentials.ts';

/** What a run needs to push and to open a pull request. */
const ofRun = { contents: 'write', pull_requests: 'write' } as const;

/** Returns why the service cannot push to a repository, as a sentence; undefined when it can. */
export async function pushProblem(
  app: App,
  repository: RepositoryRow,
  credential: Credential,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (credential.kind === 'none')
    return 'Agents cannot push, because there is no git credential: install the GitHub App on the repository, or set the git token of the project.';
  if (credential.owner !== '') {
    const known = await knownToGitHub(await octokitFor(app, credential), credential, signal);
    if (known?.archived) return 'Agents cannot push, because the repository is archived.';
    // GitHub reports these permissions only for the tokens of people, not for those of an App.
    if (credential.kind === 'git-token' && known?.permissions?.push === false)
      return 'Agents cannot push, because the git token may only read the repository. Give it write access.';
  }
  const remote = await writeRemote(app, repository, credential);
  if (remote === undefined)
    return 'Agents cannot push, because the GitHub App may not write contents and pull requests here. Accept its new permissions in the settings of its installation.';
  return (await refusesPush(app, remote, signal))
    ? 'Agents cannot push, because the host refuses it with these credentials. Give them write access.'
    : undefined;
}

async function knownToGitHub(octokit: Octokit, { owner, repo }: { owner: string; repo: string }, signal: AbortSignal) {
  const asked = octokit.request('GET /repos/{owner}/{repo}', { owner, repo, request: { signal } });
  // The git host was reached before, so a failure of GitHub's API only means that details are unknown.
  return asked.then(
    ({ data }) => data,
    () => undefined,
  );
}

/** Mints the token that a run would push with. Returns undefined if the App lacks the permissions. */
async function writeRemote(app: App, repository: RepositoryRow, credential: Credential): Promise<Remote | undefined> {
  try {
    return await remoteFor(app, repository, credential, ofRun);
  } catch (error) {
    if ([403, 422].includes((error as { status?: number }).status ?? 0)) return undefined;
    throw error;
  }
}

/** Sends the request with which git begins a push. Only a clear refusal counts. */
async function refusesPush(app: App, { url, token }: Remote, signal: AbortSignal): Promise<boolean> {
  const fetchPinned = pinnedFetch((address) => openAddress(address, hostRules(app)));
  const basic = Buffer.from(`x-access-token:${token ?? ''}`).toString('base64');
  const response = await fetchPinned(`${url}/info/refs?service=git-receive-pack`, {
    headers: { Authorization: `Basic ${basic}`, 'User-Agent': 'git/deckhand' },
    signal,
  });
  await response.body?.cancel();
  return [401, 403, 404].includes(response.status);
}
