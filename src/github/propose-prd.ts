import type { App, Octokit } from '../app.ts';
import type { RepositoryRow } from '../db/tables.ts';
import { branchName } from '../domain/branch.ts';
import { harmless, harmlessLine } from '../domain/quoted.ts';
import { slug } from '../domain/slug.ts';
import { AppError } from '../errors.ts';
import { getSession, type Prd, type Session } from '../planning/store.ts';
import { findProject } from '../projects/store.ts';
import { credentialFor, nameOnGitHub, octokitFor } from '../repositories/credentials.ts';
import { findDocs, findRepository } from '../repositories/store.ts';
import { isRefusedWith } from './pacing.ts';
import { ensurePull } from './pulls.ts';

/**
 * Proposes the requirements of a finalized plan as a file of the project's documentation repository. Branch, file and
 * pull request are looked up before they are made, so a repetition makes nothing twice.
 */
export async function proposePrd(app: App, projectId: string, sessionId: string): Promise<void> {
  const session = await getSession(app.db.manager, projectId, sessionId).catch((error) => {
    // Deleted with its project meanwhile.
    if (error instanceof AppError && error.status === 404) return undefined;
    throw error;
  });
  const repository = await findDocs(app.db.manager, projectId);
  const name = repository === null ? undefined : nameOnGitHub(app, repository.url);
  if (session?.prd == null || repository === null || name === undefined || repository.isArchived) return;
  if (await wouldShow(app, session, repository)) return app.log.info({ projectId }, 'the requirements stay private');
  const credential = await credentialFor(app, repository);
  if (credential.kind === 'none') return app.log.warn({ projectId }, 'no credential to propose the requirements');
  const octokit = await octokitFor(app, credential);
  const branch = branchName(session.id, `prd ${session.prd.title}`);
  const isThere = await ensureBranch(octokit, { ...name, base: repository.defaultBranch, branch }, session.prd);
  if (!isThere) return app.log.warn({ projectId }, 'the documentation repository has no default branch');
  const prefix = app.config.COMMAND_PREFIX;
  await ensurePull(octokit, {
    ...name,
    head: branch,
    base: repository.defaultBranch,
    title: `Requirements: ${harmlessLine(session.prd.title, 150, prefix)}`,
    body: bodyOf(session, prefix),
    draft: false,
  });
}

/** What was written with a private repository at hand does not show in a public one (decisions, section 3). */
async function wouldShow(
  app: App,
  { repositoryId, repositoryNotes, projectId }: Session,
  docs: RepositoryRow,
): Promise<boolean> {
  const read = repositoryId === null ? null : await findRepository(app.db.manager, repositoryId);
  // One that is no longer connected may have been private.
  const wasPrivate = read === null ? Boolean(repositoryNotes) : read.isPrivate;
  if (docs.isPrivate || !wasPrivate) return false;
  return !(await findProject(app.db.manager, projectId)).sharePrivateContext;
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

interface Wanted {
  owner: string;
  repo: string;
  base: string;
  branch: string;
}

/** A branch with the document on top of the base; false when there is no base. */
async function ensureBranch(octokit: Octokit, { owner, repo, base, branch }: Wanted, prd: Prd): Promise<boolean> {
  const at = { owner, repo };
  const headOf = (ref: string) =>
    octokit.request('GET /repos/{owner}/{repo}/git/ref/{ref}', { ...at, ref: `heads/${ref}` }).then(
      ({ data }) => data.object.sha,
      (error) => {
        if (isRefusedWith(error, 404, 409)) return undefined;
        throw error;
      },
    );
  if ((await headOf(branch)) !== undefined) return true;
  const parent = await headOf(base);
  if (parent === undefined) return false;
  const { data: commit } = await octokit.request('GET /repos/{owner}/{repo}/git/commits/{commit_sha}', {
    ...at,
    commit_sha: parent,
  });
  const path = `docs/requirements/${slug(prd.title) || 'requirements'}.md`;
  const content = prd.markdown.endsWith('\n') ? prd.markdown : `${prd.markdown}\n`;
  const { data: tree } = await octokit.request('POST /repos/{owner}/{repo}/git/trees', {
    ...at,
    base_tree: commit.tree.sha,
    tree: [{ path, mode: '100644', type: 'blob', content }],
  });
  const { data: made } = await octokit.request('POST /repos/{owner}/{repo}/git/commits', {
    ...at,
    message: `docs: requirements of ${prd.title}`,
    tree: tree.sha,
    parents: [parent],
  });
  await octokit.request('POST /repos/{owner}/{repo}/git/refs', { ...at, ref: `refs/heads/${branch}`, sha: made.sha });
  return true;
}
