import { z } from 'zod';
import type { App, Octokit } from '../app.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import { RunFailed } from '../domain/run.ts';
import { GitFailed, type GitFault, type Remote } from '../git/engine.ts';
import { fewAtOnce } from '../git/few-at-once.ts';
import { HostClosed, openAddress } from '../git/remote-url.ts';
import { type Route, route } from '../http/route.ts';
import { pinnedFetch } from '../outgoing/pinned-fetch.ts';
import { tenantOfProject } from '../projects/budgets.ts';
import { type Credential, credentialFor, hostRules, octokitFor, remoteFor } from '../repositories/credentials.ts';
import { pullsOffText } from '../repositories/pulls.ts';
import { openCheckout } from '../repositories/reader.ts';
import { onRepository } from '../repositories/routes.ts';
import { readBase } from '../repositories/settings/repository-settings.ts';
import { assertFoldersExist, assertLfs, assertSubmodules, chooseFiles } from './files/choose-files.ts';
import { readersOf } from './files/private-submodules.ts';
import { findLastEnvironmentTrial } from './trial.ts';

/** What a run needs to push and to open a pull request. */
const ofRun = { contents: 'write', pull_requests: 'write' } as const;

/** Returns why agents cannot push to a repository, or propose what they push, as a sentence; undefined when they can. */
async function pushProblem(
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
    if (known?.has_pull_requests === false) return `Agents cannot propose changes: ${pullsOffText(credential)}.`;
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

/** How long the check of a connection waits for the host. */
const connectionMs = 10_000;
/** How long each further check may take. Reading the settings fetches the default branch. */
const furtherMs = 30_000;
/** Validations use git in the web process, which also serves everybody else: four at once, two of them of one tenant. */
const validateFew = fewAtOnce(4, 2);
/** To find submodules and files in Git LFS, all files of a tree are listed. That may take 200 MB, so two trees at once, one of a tenant. */
const listFew = fewAtOnce(2, 1);

const explanations: Record<GitFault, string> = {
  auth: 'The host refused the credentials. Check the installation of the App or the git token',
  missing: 'The repository does not exist, or these credentials may not see it',
  unreachable: 'The host could not be reached. Check the address and whether the host is up',
  not_git: 'The host responded, but not as a git server',
  slow: 'The host took too long to respond',
  rejected: 'The host refused the request',
  broken: 'git failed',
};

interface Validation {
  valid: boolean;
  message: string;
  branches?: string[];
  error?: string;
  canPush: boolean;
}

/**
 * Checks everything in a repository that a later run would fail or stop at: the connection, the default branch, the right
 * to push, protected branches, the settings file and the environment. A failure is returned as a result, not thrown.
 */
export async function validateRepository(app: App, repository: RepositoryRow): Promise<Validation> {
  return validateFew(await tenantOfProject(app.db.manager, repository.projectId), app.stopping, () =>
    validation(app, repository),
  );
}

async function validation(app: App, repository: RepositoryRow): Promise<Validation> {
  try {
    const credential = await credentialFor(app, repository);
    const remote = await remoteFor(app, repository, credential, { contents: 'read' });
    const heads = await app.git.listBranches(remote, AbortSignal.timeout(connectionMs));
    const branches = [...heads.keys()].sort();
    const cannotPush = await unlessFailing(
      app,
      (signal) => pushProblem(app, repository, credential, signal),
      'Whether agents can push could not be checked.',
    );
    const canPush = cannotPush === undefined;
    const missing = branchProblem(repository.defaultBranch, branches);
    if (missing !== undefined)
      return {
        valid: false,
        message: sentences([missing.message, cannotPush]),
        error: missing.error,
        branches,
        canPush,
      };
    const unusable = await unlessFailing(app, (signal) => settingsProblem(app, remote, repository, signal), notChecked);
    const rest = [cannotPush, await protectionNote(app, repository, credential), await trialNote(app, repository.id)];
    const reached = `Reached. It has ${branches.length} ${branches.length === 1 ? 'branch' : 'branches'}${canPush ? ', and agents can push' : ''}.`;
    const message = sentences([reached, unusable, ...rest]);
    return unusable !== undefined && unusable !== notChecked
      ? { valid: false, message, error: unusable, branches, canPush }
      : { valid: true, message, branches, canPush };
  } catch (error) {
    const why = whyNot(app, error);
    return { valid: false, message: 'The repository could not be reached', error: why, canPush: false };
  }
}

const notChecked = 'The settings file .deckhand.yml could not be checked.';

const sentences = (parts: (string | undefined)[]) => parts.filter((part) => part !== undefined).join(' ');

/** Returns what a further check finds, or `otherwise` if the check itself fails or takes too long. */
async function unlessFailing(
  app: App,
  check: (signal: AbortSignal) => Promise<string | undefined>,
  otherwise: string,
): Promise<string | undefined> {
  try {
    return await check(AbortSignal.any([app.stopping, AbortSignal.timeout(furtherMs)]));
  } catch (error) {
    app.log.info({ err: error }, 'a part of a validation failed');
    return otherwise;
  }
}

function branchProblem(branch: string, branches: string[]): { message: string; error: string } | undefined {
  if (branches.includes(branch)) return undefined;
  if (branches.length === 0)
    return { message: 'Reached, but the repository is empty.', error: `Push a first commit to the branch ${branch}` };
  return {
    message: `Reached, but the default branch ${branch} does not exist.`,
    error: `The repository has no branch ${branch}. Change the default branch of the repository to one that exists`,
  };
}

async function settingsProblem(app: App, remote: Remote, repository: RepositoryRow, signal: AbortSignal) {
  const { checkout, remove } = await openCheckout(app, remote, signal);
  try {
    const base = await readBase(checkout, { repository, remote });
    const choosing = { app, remote, settings: base.settings, signal, readers: readersOf(app, repository, []) };
    await chooseFiles(checkout, choosing);
    await assertFoldersExist(checkout, base.settings, base);
    const { submodules, lfs } = base.settings.checkout;
    if (submodules || lfs)
      await listFew(await tenantOfProject(app.db.manager, repository.projectId), signal, async () => {
        await assertSubmodules(checkout, choosing, base.head);
        await assertLfs(checkout, choosing, base.head);
      });
    return undefined;
  } catch (error) {
    if (error instanceof RunFailed) return `${error.message}.`.replace(/\.\.$/, '.');
    throw error;
  } finally {
    await remove();
  }
}

/** Says which rules of GitHub a run or its merge would meet. */
async function protectionNote(app: App, { defaultBranch: branch }: RepositoryRow, credential: Credential) {
  if (credential.kind === 'none' || credential.owner === '') return undefined;
  const octokit = await octokitFor(app, credential);
  const place = { owner: credential.owner, repo: credential.repo };
  const [isProtected, refused] = await Promise.all([
    ifAnswered(octokit.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...place, branch })),
    refusingRules(octokit, place),
  ]);
  const notes = [
    refused.length === 0
      ? undefined
      : `A ruleset restricts branches such as agent/… (${refused.join(', ')}), so a push may be refused. Exempt the App or these branches from it.`,
    isProtected?.protected
      ? `The default branch ${branch} is protected, so a merge may need reviews or checks first.`
      : undefined,
  ];
  return notes.every((note) => note === undefined) ? undefined : sentences(notes);
}

/** The rules that can refuse the branch of an agent. */
const pushRules = [
  'creation',
  'update',
  'required_signatures',
  'commit_message_pattern',
  'commit_author_email_pattern',
];

async function refusingRules(octokit: Octokit, place: { owner: string; repo: string }): Promise<string[]> {
  const path = 'GET /repos/{owner}/{repo}/rules/branches/{branch}';
  const rules = await ifAnswered(octokit.request(path, { ...place, branch: 'agent/validation', per_page: 100 }));
  const types = Array.isArray(rules) ? rules.map(({ type }) => type) : [];
  return pushRules.filter((type) => types.some((each) => each === type));
}

/** Older servers and narrower tokens do not answer these questions. */
async function ifAnswered<T>(asked: Promise<{ data: T }>): Promise<T | undefined> {
  return asked.then(
    ({ data }) => data,
    () => undefined,
  );
}

async function trialNote(app: App, repositoryId: string): Promise<string | undefined> {
  const trial = await findLastEnvironmentTrial(app.db.manager, repositoryId);
  if (trial === null) return 'Its environment was never tried. Try it before the first run.';
  return trial.status === 'failed' ? 'The last trial of its environment failed.' : undefined;
}

function whyNot(app: App, error: unknown): string {
  if (error instanceof GitFailed) return `${explanations[error.fault]} (${error.message})`;
  if (error instanceof HostClosed) return `${error.message}; the operator can set ALLOW_PRIVATE_HOSTS to allow it`;
  const { name, status } = error as { name?: string; status?: number };
  if (name === 'TimeoutError' || name === 'AbortError') return `No response within ${connectionMs / 1000} s`;
  if (status !== undefined) return `GitHub responded with HTTP ${status} when asked for a token`;
  app.log.error({ err: error }, 'validation failed');
  return 'The check failed. The log of the service has the details';
}

const Validation = z
  .object({
    valid: z.boolean(),
    message: z.string().meta({ description: 'what was found, and everything that a run would fail or stop at' }),
    branches: z.array(z.string()).optional(),
    error: z.string().optional(),
    canPush: z.boolean(),
  })
  .meta({ id: 'RepositoryValidation' });

export const validationRoutes: Route[] = [
  route({
    operationId: 'validateRepository',
    method: 'post',
    path: '/repositories/:id/validate',
    summary: 'Check the connection, default branch, right to push, settings file and environment of a repository',
    tag: 'repositories',
    access: onRepository('member'),
    audit: { action: 'repository.validate', object: ({ repository }) => repository },
    reply: [200, Validation],
    costs: 'start',
    // The validation writes nothing.
    waits: 'between writes',
    handle: (app, { repository }) => validateRepository(app, repository),
  }),
];
