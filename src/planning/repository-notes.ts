import type { App } from '../app.ts';
import { AppError } from '../errors.ts';
import { credentialFor, nameOnGitHub, octokitFor } from '../repositories/credentials.ts';
import { openReader } from '../repositories/reader.ts';
import { findRepository } from '../repositories/store.ts';

/** Characters kept of each part. */
const partChars = 6000;
const readMs = 60_000;
const maxIssues = 30;

/**
 * Describes a repository to the model that plans: files, README, instructions and open issues. Returns an empty string
 * if the repository cannot be read.
 */
export async function describeRepository(app: App, repositoryId: string | null): Promise<string> {
  const repository = repositoryId === null ? null : await findRepository(app.db.manager, repositoryId);
  if (repository === null) return '';
  const signal = AbortSignal.any([app.stopping, AbortSignal.timeout(readMs)]);
  const reader = openReader(app, repository, null, signal);
  try {
    const read = async (tool: string, args: object) => {
      const { ok, text } = await reader.call(tool, args);
      return ok ? text.slice(0, partChars) : '';
    };
    const parts: [string, string][] = [['Files', await read('list_files', { depth: 2 })]];
    if (parts[0]?.[1] === '') return '';
    for (const path of ['README.md', 'AGENTS.md', 'CLAUDE.md', '.github/copilot-instructions.md'])
      parts.push([path, await read('read_text', { path })]);
    parts.push(['Open issues', await openIssues(app, repository)]);
    return parts.flatMap(([title, text]) => (text === '' ? [] : [`## ${title}\n${text}`])).join('\n\n');
  } catch (error) {
    if (app.stopping.aborted) throw error;
    app.log.warn({ err: error, repositoryId }, 'could not read the repository for planning');
    return '';
  } finally {
    await reader.close();
  }
}

async function openIssues(app: App, repository: Parameters<typeof credentialFor>[1]): Promise<string> {
  const name = nameOnGitHub(app, repository.url);
  if (name === undefined) return '';
  try {
    const octokit = await octokitFor(app, await credentialFor(app, repository));
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/issues', { ...name, per_page: maxIssues });
    const issues = data.filter((issue) => issue.pull_request === undefined);
    return issues.map((issue) => `- #${issue.number} ${issue.title}`).join('\n');
  } catch (error) {
    // Without a credential or without GitHub, planning continues without the issues.
    if (error instanceof AppError || (error as Error).name === 'HttpError') return '';
    throw error;
  }
}
