import type { App } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { RunFailed } from '../../domain/run.ts';
import { mayReveal } from '../../domain/settings.ts';
import { branchName } from '../../domain/text/branch-names.ts';
import { harmlessLine, harmlessText, slug, withoutCiSkips } from '../../domain/text/sanitize.ts';
import { knownSecrets } from '../../environment/secrets/secrets.ts';
import { AppError } from '../../errors.ts';
import type { Checkout } from '../../git/engine.ts';
import { getSession, type Prd, type Session } from '../../planning/store.ts';
import { findProject } from '../../projects/store.ts';
import type { Jobs } from '../../queue/names.ts';
import { type Credential, credentialFor, nameOnGitHub, octokitFor, remoteFor } from '../../repositories/credentials.ts';
import { ensurePull } from '../../repositories/pulls.ts';
import { openCheckout, startTools } from '../../repositories/reader.ts';
import { lackOfRight } from '../../repositories/rights.ts';
import { readSettings } from '../../repositories/settings/repository-settings.ts';
import type { RepositorySettings } from '../../repositories/settings/schema.ts';
import { findDocs, listRepositoriesById } from '../../repositories/store.ts';
import { protectedChanges } from '../../worker/leaving/objection.ts';
import { objectionsTo, objectionToSending } from '../../worker/leaving/scan-change.ts';
import { authorFor } from '../../worker/publish/commit-message.ts';
import { pushNew } from '../../worker/publish/sign.ts';

/**
 * Opens a pull request that adds the requirements of a finalized plan to the project's documentation repository. The
 * branch, the file and the pull request are each created only if missing, so a retry creates nothing twice. Nothing is
 * opened unless the person who finalized the plan may write there, and unless a run could push the document. What a
 * repository wants of the changes of runs, this one does not have, so the pull request is a draft there.
 */
export async function proposePrd(app: App, { projectId, sessionId, userId }: Jobs['prd']): Promise<void> {
  const session = await getSession(app.db.manager, projectId, sessionId).catch((error) => {
    // The project was deleted, and the plan with it.
    if (error instanceof AppError && error.status === 404) return undefined;
    throw error;
  });
  const repository = await findDocs(app.db.manager, projectId);
  const name = repository === null ? undefined : nameOnGitHub(app, repository.url);
  if (session?.prd == null || repository === null || name === undefined || repository.isArchived) return;
  if (!(await mayShowIn(app, session, repository)))
    return app.log.info(
      { projectId },
      'the requirements were not proposed: they may hold private content, and the documentation is public',
    );
  const finalizer = userId ?? session.createdBy;
  const lack = await lackOfRight(app, finalizer === null ? [] : [finalizer], repository, 'write');
  if (lack !== undefined) return app.log.info({ projectId }, `the requirements were not proposed: ${lack}`);
  const credential = await credentialFor(app, repository);
  if (credential.kind === 'none')
    return app.log.warn({ projectId }, 'the requirements were not proposed: no git credential is configured');
  const octokit = await octokitFor(app, credential);
  const prefix = app.config.COMMAND_PREFIX;
  const wanted: Wanted = {
    sessionId: session.id,
    branch: branchName({ id: session.id, title: `prd ${session.prd.title}`, issueNumber: null }),
    title: withoutCiSkips(`Requirements: ${harmlessLine(session.prd.title, 150, prefix)}`),
    body: withoutCiSkips(bodyOf(session, prefix)),
    prd: session.prd,
  };
  const found = await ensureBranch(app, { repository, credential }, wanted);
  if ('refused' in found) return app.log.warn({ projectId }, `the requirements were not proposed: ${found.refused}`);
  const { push } = await findProject(app.db.manager, projectId);
  await ensurePull(octokit, {
    ...name,
    head: wanted.branch,
    known: [],
    base: repository.defaultBranch,
    title: wanted.title,
    body: wanted.body,
    draft: push === 'approved' || wantsMore(found.settings),
  });
}

/** What the pull request consists of. */
interface Wanted {
  sessionId: string;
  branch: string;
  title: string;
  body: string;
  prd: Prd;
}

/** Returns whether the changes of runs need more than a pull request. */
function wantsMore({ checks, proof, push }: RepositorySettings): boolean {
  return checks.length > 0 || proof === 'required' || push === 'approved';
}

interface DocsAccess {
  repository: RepositoryRow;
  credential: Credential;
}

/** Time limit for git. Beyond it the job fails and is retried. */
const gitMs = 300_000;

async function mayShowIn(app: App, session: Session, docs: RepositoryRow): Promise<boolean> {
  const { repositoryIds, repositoryCount, repositoryNotes, projectId } = session;
  const sources: { isPrivate: boolean }[] = await listRepositoriesById(app.db.manager, repositoryIds);
  // Treats repositories that are no longer connected as private. A plan without repository notes contains nothing from
  // one.
  if (repositoryCount > repositoryIds.length) sources.push({ isPrivate: Boolean(repositoryNotes) });
  const project = await findProject(app.db.manager, projectId);
  return sources.every((source) => mayReveal(source, docs, project));
}

function bodyOf({ goal, result }: Session, prefix: string): string {
  return [
    'The requirements document of a plan, as it was approved.',
    `**Goal:** ${harmlessText(goal, 2000, prefix)}`,
    result === null ? '' : `**Sprint:** ${harmlessLine(result.sprint.name, 200, prefix)}, ${result.tasks.length} tasks`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/**
 * Ensures that a branch on top of the default branch contains the document. Returns the settings of the repository, or
 * why there is no such branch. The file is written inside the sandbox, because the folder's path may be a symbolic link
 * in the repository.
 */
async function ensureBranch(
  app: App,
  docs: DocsAccess,
  wanted: Wanted,
): Promise<{ settings: RepositorySettings } | { refused: string }> {
  const { repository, credential } = docs;
  const signal = AbortSignal.any([app.stopping, AbortSignal.timeout(gitMs)]);
  const remote = await remoteFor(app, repository, credential, { contents: 'write' });
  const secrets = [
    ...(await knownSecrets(app, repository.projectId, [repository.id])),
    ...(remote.token ? [remote.token] : []),
  ];
  const { branch, title, body } = wanted;
  const objection = objectionToSending({ branch, title, body }, secrets);
  if (objection !== undefined) return { refused: `their title, goal or sprint ${objection}` };
  const { checkout, remove } = await openCheckout(app, remote, signal);
  try {
    const base = await checkout.fetch(repository.defaultBranch);
    if (base === undefined) return { refused: 'the documentation repository is empty' };
    const settings = await readSettings(checkout, base);
    if ((await checkout.fetch(branch)) !== undefined) return { settings };
    const tree = await writeDocument(app, checkout, { base, prd: wanted.prd, signal });
    const refused = await objectionToTree(checkout, { base, tree, settings, secrets, signal });
    if (refused !== undefined) return { refused };
    const subject = `docs: requirements of ${harmlessLine(wanted.prd.title, 60, app.config.COMMAND_PREFIX)}`;
    const content = { tree, parents: [base], message: withoutCiSkips(`${subject}\n`) };
    const commit = await checkout.commit({ ...content, author: await authorFor(app, credential), at: new Date() });
    const place = { credential, checkout, signal, settings, branch, name: wanted.sessionId };
    await pushNew(app, place, { ...content, commit });
    return { settings };
  } catch (error) {
    // A settings file that cannot be used. Without it, nobody knows what is protected.
    if (error instanceof RunFailed) return { refused: error.message };
    throw error;
  } finally {
    await remove();
  }
}

/** Writes the document into the files of a commit. Returns their tree. */
async function writeDocument(
  app: App,
  checkout: Checkout,
  { base, prd, signal }: { base: string; prd: Prd; signal: AbortSignal },
): Promise<string> {
  const { host } = await startTools(app, checkout, signal, () => checkout.checkout(base));
  try {
    const path = `docs/requirements/${slug(prd.title) || 'requirements'}.md`;
    const content = prd.markdown.endsWith('\n') ? prd.markdown : `${prd.markdown}\n`;
    const { ok, text } = await host.call('write_file', { path, content });
    if (!ok) throw new Error(`the requirements were not written: ${text}`);
  } finally {
    await host.close();
  }
  return checkout.snapshot();
}

interface Written {
  base: string;
  tree: string;
  settings: RepositorySettings;
  secrets: string[];
  signal: AbortSignal;
}

/** Returns why a run could not push these files; undefined if it could. */
async function objectionToTree(
  checkout: Checkout,
  { base, tree, settings, secrets, signal }: Written,
): Promise<string | undefined> {
  const changes = await checkout.changes(await checkout.treeOf(base), tree);
  const origin = { from: base, base, tree };
  const [found] = [
    ...(await protectedChanges(settings, changes, { checkout, origin })),
    ...(await objectionsTo(checkout, changes, secrets, { signal })),
  ];
  return found && `${found.path} ${found.reason}`;
}
