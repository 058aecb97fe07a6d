import type { App } from '../app.ts';
import { newId } from '../db/ids.ts';
import type { RepositoryRow } from '../db/tables/project.ts';
import { maxQuestions, nextOwnQuestion, type Question, questionOf } from '../domain/wizard.ts';
import { AppError } from '../errors.ts';
import type { Model } from '../llm/model.ts';
import { credentialFor, nameOnGitHub, octokitFor } from '../repositories/credentials.ts';
import { openReader, type Reader } from '../repositories/reader.ts';
import { rightProblem } from '../repositories/rights.ts';
import type { ToolAnswer } from '../sandbox/sandbox.ts';
import { askModel, type FunctionName, type Live, type PlanStep, planningModel, stepMs } from './ask-model.ts';
import { type More, plannedRepositories, planningPrompt } from './prompts.ts';
import type { Draft } from './store.ts';

/**
 * Runs one step of a session: lets the model read the repositories and call the function. Returns what the
 * function was called with, and the notes on the repositories for later steps. A step reads only the repositories that
 * everybody may read whose words it follows; notes that are also about others, or about one that is no longer connected, are
 * neither used nor changed by it.
 * @throws AppError 502 when the model fails
 */
export async function takeStep<N extends FunctionName>(
  app: App,
  model: Model,
  name: N,
  draft: Draft,
  more: More & { live?: Live | undefined; check?: PlanStep['check']; askedBy?: string | undefined },
) {
  const signal = AbortSignal.any([app.stopping, AbortSignal.timeout(stepMs)]);
  const readers = [...draft.directedBy, ...(more.askedBy === undefined ? [] : [more.askedBy])];
  const planned = await plannedRepositories(app, draft);
  const repositories: RepositoryRow[] = [];
  for (const each of planned)
    if ((await rightProblem(app, readers, each, 'read')) === undefined) repositories.push(each);
  const isWhole = repositories.length === draft.repositoryCount;
  const stored = isWhole ? draft.repositoryNotes : null;
  const reader = openPlanReader(app, { repositories, readers }, signal);
  try {
    const isUnread = stored === null || (stored === '' && name === 'write_prd');
    const notes = isUnread ? await describeOrNothing() : (stored ?? '');
    const known = { ...draft, repositoryNotes: notes };
    const isReadable = notes !== '';
    const opening = planningPrompt(name, known, { ...more, repositories: isReadable ? repositories : [] });
    const read = isReadable ? reader.call : undefined;
    const { given, found } = await askModel(app, model, name, {
      ...more.live,
      check: more.check,
      opening,
      read,
      signal,
    });
    return { given, notes: isWhole ? withFindings(notes, found) : draft.repositoryNotes };
  } finally {
    await reader.close();
  }

  async function describeOrNothing(): Promise<string> {
    if (repositories.length === 0) return '';
    try {
      return await describeRepositories(app, repositories, reader);
    } catch (error) {
      if (app.stopping.aborted) throw error;
      app.log.warn({ err: error, projectId: draft.projectId }, 'could not read the repositories for planning');
      return '';
    }
  }
}

/** The next question; undefined when enough is known. `notes` are those on the repositories, for later steps. */
export interface Next {
  question: Question | undefined;
  notes: string | null;
}

/**
 * Lets the model ask the next question, from the goal, the answers and what it reads in the repositories. Without a
 * model, returns the next of the fixed questions.
 * @throws AppError 502 when the model fails
 */
export async function nextQuestion(app: App, draft: Draft): Promise<Next> {
  const notes = draft.repositoryNotes;
  if (draft.steps.length >= maxQuestions) return { question: undefined, notes };
  const model = await planningModel(app, draft, draft.directedBy.at(-1) ?? null).catch((error) => {
    if (error instanceof AppError && error.status === 503) return undefined;
    throw error;
  });
  if (model === undefined) return { question: nextOwnQuestion(draft.steps, newId('step')), notes };
  const check = (asked: { done?: boolean }) =>
    asked.done && draft.steps.length === 0 ? 'ask at least one question before you set done' : undefined;
  const { given, notes: read } = await takeStep(app, model, 'ask_question', draft, { check });
  const { question, options, done } = given;
  return { question: done ? undefined : questionOf(newId('step'), question, options), notes: read };
}

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
async function describeRepositories(app: App, repositories: RepositoryRow[], reader: PlanReader): Promise<string> {
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
function withFindings(notes: string, found: string): string {
  if (found === '') return notes;
  const [described = '', earlier = ''] = notes.split(heading, 2);
  return `${described}${heading}${`${earlier}\n${found}`.trim().slice(-findingsChars)}`;
}

/** At most this many repositories are open at once, because each one has a clone and a sandbox. */
const maxOpen = 5;

/** Reads the repositories of a plan. The first one is at `.`, the others are at `../<name>/`. */
interface PlanReader {
  call(tool: string, args: object): Promise<ToolAnswer>;
  folderOf(repository: RepositoryRow): string;
  close(): Promise<void>;
}

/** Opens a reader for the users in `readers`. A repository is cloned by the first call that needs it. */
function openPlanReader(
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
