import type { App, Octokit } from '../../app.ts';
import type { RepositoryRow } from '../../db/tables/project.ts';
import { AppError } from '../../errors.ts';
import { isRefusedWith } from '../../outgoing/github-errors.ts';
import { apart } from '../../threads/apart.ts';
import { credentialFor, octokitFor } from '../credentials.ts';
import { rightProblem } from '../rights.ts';
import type { Template } from './parse-template.ts';

const folder = '.github/ISSUE_TEMPLATE';
/** More templates than these are not read, and no larger ones. */
const maxTemplates = 10;
const maxBytes = 65_536;
/** How long GitHub may take for all of them. */
const listMs = 10_000;

const reading = apart<typeof import('./parse-template.ts')>(new URL('./parse-template.ts', import.meta.url), {
  seconds: 2,
  heapMb: 128,
});

/**
 * Returns the templates of issues in the default branch of a repository, for new tasks, in the order of their files; none for a
 * repository on another host than GitHub.
 * @throws AppError 403 when the person may not read the repository there, 502 when GitHub cannot be asked
 */
export async function listTemplates(app: App, repository: RepositoryRow, userId: string): Promise<Template[]> {
  const problem = await rightProblem(app, [userId], repository, 'read');
  if (problem !== undefined) throw problem;
  const credential = await credentialFor(app, repository);
  if (credential.kind === 'none' || credential.owner === '') return [];
  const signal = AbortSignal.any([app.stopping, AbortSignal.timeout(listMs)]);
  const octokit = await octokitFor(app, credential);
  const contents = contentsOf(octokit, { owner: credential.owner, repo: credential.repo, request: { signal } });
  try {
    const files = await Promise.all((await listFiles(contents)).map(async (path) => readTemplate(contents, path)));
    return files.filter((file) => file !== undefined);
  } catch (error) {
    const { name, status } = error as { name?: string; status?: number };
    if (status === undefined && name !== 'TimeoutError' && name !== 'AbortError') throw error;
    app.log.info({ err: error, repositoryId: repository.id }, 'the templates of a repository could not be read');
    throw new AppError(
      502,
      `GitHub could not be asked for the templates of the repository ${repository.name}. Try again later.`,
    );
  }
}

type Contents = ReturnType<typeof contentsOf>;

/** Returns a function that reads a file or a folder of the default branch; undefined if there is none. */
function contentsOf(octokit: Octokit, at: { owner: string; repo: string; request: { signal: AbortSignal } }) {
  return async (path: string) => {
    try {
      return (await octokit.request('GET /repos/{owner}/{repo}/contents/{path}', { ...at, path })).data;
    } catch (error) {
      // GitHub says 404 for a path and for an empty repository alike.
      if (isRefusedWith(error, 404)) return undefined;
      throw error;
    }
  };
}

async function listFiles(contents: Contents): Promise<string[]> {
  const entries = await contents(folder);
  if (!Array.isArray(entries)) return [];
  const isTemplate = ({ type, name, size }: { type: string; name: string; size: number }) =>
    type === 'file' && size <= maxBytes && /\.(?:md|ya?ml)$/i.test(name) && !/^config\.ya?ml$/i.test(name);
  return entries
    .filter(isTemplate)
    .slice(0, maxTemplates)
    .map(({ path }) => path);
}

/** Reads a template. One that cannot be read is left out, as GitHub does. */
async function readTemplate(contents: Contents, path: string): Promise<Template | undefined> {
  const file = await contents(path);
  if (file === undefined || !('content' in file) || file.encoding !== 'base64') return undefined;
  const bytes = Buffer.from(file.content, 'base64');
  if (bytes.length > maxBytes) return undefined;
  return reading.call('parseTemplate', path, bytes.toString('utf8')).catch(() => undefined);
}
