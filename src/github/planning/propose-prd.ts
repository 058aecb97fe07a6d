import type { App } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { mayReveal } from '../../domain/settings.ts';
import { branchName } from '../../domain/text/branch-names.ts';
import { harmless, harmlessLine, slug, withoutCiSkips } from '../../domain/text/sanitize.ts';
import { AppError } from '../../errors.ts';
import { getSession, type Prd, type Session } from '../../planning/store.ts';
import { findProject } from '../../projects/store.ts';
import type { Jobs } from '../../queue/names.ts';
import { type Credential, credentialFor, nameOnGitHub, octokitFor, remoteFor } from '../../repositories/credentials.ts';
import { ensurePull } from '../../repositories/pulls.ts';
import { openCheckout, startTools } from '../../repositories/reader.ts';
import { lackOfRight } from '../../repositories/rights.ts';
import { findDocs, listRepositoriesById } from '../../repositories/store.ts';
import { authorFor } from '../../worker/publish/commit-message.ts';

/**
 * Opens a pull request that adds the requirements of a finalized plan to the project's documentation repository. The
 * branch, the file and the pull request are each created only if missing, so a retry creates nothing twice. Nothing is
 * opened unless the person who finalized the plan may write there.
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
  const branch = branchName({ id: session.id, title: `prd ${session.prd.title}`, issueNumber: null });
  const hasBranch = await ensureBranch(app, { repository, credential }, branch, session.prd);
  if (!hasBranch)
    return app.log.warn({ projectId }, 'the requirements were not proposed: the documentation repository is empty');
  const prefix = app.config.COMMAND_PREFIX;
  await ensurePull(octokit, {
    ...name,
    head: branch,
    known: [],
    base: repository.defaultBranch,
    title: withoutCiSkips(`Requirements: ${harmlessLine(session.prd.title, 150, prefix)}`),
    body: withoutCiSkips(bodyOf(session, prefix)),
    draft: false,
  });
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
    `**Goal:** ${harmless(goal, prefix).slice(0, 2000)}`,
    result === null ? '' : `**Sprint:** ${harmlessLine(result.sprint.name, 200, prefix)}, ${result.tasks.length} tasks`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/**
 * Ensures that a branch on top of the default branch contains the document. Returns false when there is no default
 * branch. The file is written inside the sandbox, because the folder's path may be a symbolic link in the repository.
 */
async function ensureBranch(app: App, docs: DocsAccess, branch: string, prd: Prd): Promise<boolean> {
  const { repository, credential } = docs;
  const signal = AbortSignal.any([app.stopping, AbortSignal.timeout(gitMs)]);
  const remote = await remoteFor(app, repository, credential, { contents: 'write' });
  const { checkout, remove } = await openCheckout(app, remote, signal);
  try {
    if ((await checkout.fetch(branch)) !== undefined) return true;
    const base = await checkout.fetch(repository.defaultBranch);
    if (base === undefined) return false;
    const { host } = await startTools(app, checkout, signal, () => checkout.checkout(base));
    try {
      const path = `docs/requirements/${slug(prd.title) || 'requirements'}.md`;
      const content = prd.markdown.endsWith('\n') ? prd.markdown : `${prd.markdown}\n`;
      const { ok, text } = await host.call('write_file', { path, content });
      if (!ok) throw new Error(`the requirements were not written: ${text}`);
    } finally {
      await host.close();
    }
    const commit = await checkout.commit({
      tree: await checkout.snapshot(),
      parents: [base],
      message: withoutCiSkips(`docs: requirements of ${harmlessLine(prd.title, 60, app.config.COMMAND_PREFIX)}\n`),
      author: await authorFor(app, credential),
      at: new Date(),
    });
    await checkout.push(commit, branch);
    return true;
  } finally {
    await remove();
  }
}
