import type { App } from '../app.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import { AppError } from '../errors.ts';
import { credentialFor, nameOnGitHub, octokitFor } from '../repositories/credentials.ts';
import { openReader, type Reader } from '../repositories/reader.ts';
import type { ToolAnswer } from '../sandbox/sandbox.ts';

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

/** At most this many repositories are open at once, because each one has a clone and a sandbox. */
const maxOpen = 5;

/** Reads the repositories of a plan. The first one is at `.`, the others are at `../<name>/`. */
export interface PlanReader {
  call(tool: string, args: object): Promise<ToolAnswer>;
  folderOf(repository: RepositoryRow): string;
  close(): Promise<void>;
}

/** Opens a reader for the users in `readers`. A repository is cloned by the first call that needs it. */
export function openPlanReader(
  app: App,
  { repositories, readers }: { repositories: RepositoryRow[]; readers: string[] },
  signal: AbortSignal,
): PlanReader {
  const open = new Map<RepositoryRow, Reader>();
  const readerOf = (repository: RepositoryRow): Reader | undefined => {
    const known = open.get(repository);
    if (known !== undefined || open.size >= maxOpen) return known;
    const made = openReader(app, { repository, branch: null, readers }, signal);
    open.set(repository, made);
    return made;
  };
  return {
    folderOf: (repository) => (repository === repositories[0] ? '.' : `../${repository.name}/`),
    call: async (tool, args) => {
      const { path } = args as { path?: string };
      const [, name, rest] = /^\.\.\/+([^/]+)\/*(.*)$/s.exec(path ?? '') ?? [];
      const named = (each: RepositoryRow) => each.name.toLowerCase() === name?.toLowerCase();
      const repository = name === undefined ? repositories[0] : repositories.find(named);
      if (repository === undefined)
        return { ok: false, text: `there is no repository ../${name}; ${allOf(repositories)}` };
      const reader = readerOf(repository);
      if (reader === undefined)
        return { ok: false, text: `at most ${maxOpen} repositories can be read in one step; go on with those` };
      return reader.call(tool, name === undefined ? args : { ...args, path: rest || '.' });
    },
    close: async () => {
      for (const reader of open.values()) await reader.close();
    },
  };
}

function allOf(repositories: RepositoryRow[]): string {
  return `there are: ${repositories.map(({ name }) => `../${name}/`).join(', ') || 'none'}`;
}
