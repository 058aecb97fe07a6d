import type { App } from '../app.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import { AppError } from '../errors.ts';
import { credentialFor, nameOnGitHub, octokitFor } from '../repositories/credentials.ts';
import type { PlanReader } from './plan-reader.ts';

/** Characters kept of each part of a description, and of what the model found by reading. */
const [partChars, findingsChars] = [6000, 8000];
/** At most this many repositories are described. The model can read the others. */
const maxDescribed = 3;
const maxIssues = 30;
const instructions = ['README.md', 'AGENTS.md', 'CLAUDE.md', '.github/copilot-instructions.md'];

/**
 * Describes repositories to the model that plans: files, README, instructions and open issues. Returns an empty string
 * if none can be read.
 */
export async function describeRepositories(
  app: App,
  repositories: RepositoryRow[],
  reader: PlanReader,
): Promise<string> {
  const described = repositories.slice(0, maxDescribed);
  const chars = Math.floor(partChars / described.length);
  const texts = [];
  for (const repository of described) {
    const text = await describe(app, repository, reader, chars);
    if (text !== '') texts.push(`# ${repository.name}, at ${reader.folderOf(repository)}\n${text}`);
  }
  return texts.join('\n\n');
}

async function describe(app: App, repository: RepositoryRow, reader: PlanReader, chars: number): Promise<string> {
  const folder = reader.folderOf(repository);
  const read = async (tool: string, path: string) => {
    const { ok, text } = await reader.call(tool, tool === 'list_files' ? { path, depth: 2 } : { path });
    return ok ? text.slice(0, chars) : '';
  };
  const files = await read('list_files', folder);
  if (files === '') return '';
  const parts: [string, string][] = [['Files', files]];
  for (const file of instructions)
    parts.push([file, await read('read_text', folder === '.' ? file : `${folder}${file}`)]);
  parts.push(['Open issues', (await openIssues(app, repository)).slice(0, chars)]);
  return parts.flatMap(([title, text]) => (text === '' ? [] : [`## ${title}\n${text}`])).join('\n\n');
}

async function openIssues(app: App, repository: RepositoryRow): Promise<string> {
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

const heading = '\n\n# Found by reading\n';

/** Adds what the model said after reading, so that later steps need not read it again. The newest findings stay. */
export function withFindings(notes: string, found: string): string {
  if (found === '') return notes;
  const [described = '', earlier = ''] = notes.split(heading, 2);
  return `${described}${heading}${`${earlier}\n${found}`.trim().slice(-findingsChars)}`;
}
