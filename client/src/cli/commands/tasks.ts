import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import {
  answerTask,
  approveTask,
  cancelTask,
  createTask,
  getAgent,
  getMergeReadiness,
  listPullRequests,
  listTasks,
  mergeTask,
  resumeTask,
  retryTask,
  reviseTask,
  sayToTask,
  startTask,
  type Task,
  updateTask,
} from '../../api.ts';
import { DeckhandError } from '../../errors.ts';
import { type Context, optionsOf, sessionOf, withExamples } from '../context.ts';
import { CommandFailed, UsageError } from '../failures.ts';
import { findAgent, findRepository, findTask } from '../ids.ts';
import type { Session } from '../session.ts';
import { shownLine } from '../terminal.ts';
import { taskLine, taskText } from './task-text.ts';
import { watchCommand } from './watch.ts';

const taskArgument = ['<task>', 'its id, or a unique end of it'] as const;

export function taskCommands(program: Command, context: Context): void {
  const task = program.command('task').description('Create, start, watch and direct tasks');
  createCommand(task, context);
  listCommand(task, context);
  directCommands(task, context);
  watchCommand(task, context);
  messageCommands(task, context);
  approveCommand(task, context);
  mergeCommand(task, context);
}

interface CreateOptions {
  description?: string;
  agent?: string;
  repository?: string;
  base?: string;
  planFirst?: boolean;
  issue?: boolean;
  dependsOn?: string[];
  start?: boolean;
}

function createCommand(task: Command, context: Context): void {
  const create = task
    .command('create')
    .description('Create a task')
    .argument('<title>', 'what is to be done, in one line')
    .option('-d, --description <text>', 'the details; - reads them from standard input')
    .option('-a, --agent <agent>', 'name or id of the agent that owns it')
    .option('-r, --repository <repository>', 'name or id of its repository (else the primary one)')
    .option('--base <branch>', 'the branch from which it starts and into which it goes')
    .option('--plan-first', 'the agent proposes a plan before it changes anything')
    .option('--issue', 'also create an issue on GitHub')
    .option('--depends-on <task...>', 'tasks that have to be done first')
    .option('--start', 'start it at once')
    .action(async (title: string, _options, command: Command) => {
      const options = optionsOf<CreateOptions>(command);
      const session = await sessionOf(context, command);
      const made = await newTask(session, title, options);
      const found = options.start ? await startNew(session, made) : made;
      context.terminal.print(found, () => `${options.start ? 'Started' : 'Created'} ${taskLine(found)}`);
    });
  withExamples(
    create,
    'deckhand task create "Greet by name" --agent Developer --start',
    'deckhand task create "Fix the login" --description - < report.md',
  );
}

async function newTask(session: Session, title: string, options: CreateOptions): Promise<Task> {
  const { description, agent, repository, base, planFirst, issue, dependsOn = [] } = options;
  const project = await session.project();
  const body = {
    title,
    description: description === '-' ? await text(process.stdin) : description,
    owner: agent === undefined ? undefined : (await findAgent(session, project.id, agent)).id,
    repositoryId: repository === undefined ? undefined : (await findRepository(session, project.id, repository)).id,
    base,
    planFirst,
    issue,
    dependsOn: await Promise.all(dependsOn.map(async (wanted) => (await findTask(session, wanted)).id)),
  };
  return createTask(project.id, body, {}, session.at);
}

/** Starts a task that was just created. A refusal names it, or its reader would create it once more. */
async function startNew(session: Session, { id }: Task): Promise<Task> {
  try {
    return await startTask(id, {}, session.at);
  } catch (error) {
    if (!(error instanceof DeckhandError)) throw error;
    const { status, errors, cause } = error;
    throw new DeckhandError(status, `${id} was created, but does not start: ${error.message}`, { errors, cause });
  }
}

const statuses = ['backlog', 'ready', 'in_progress', 'in_review', 'done', 'waiting_on_subtasks'] as const;

function listCommand(task: Command, context: Context): void {
  const list = task
    .command('list')
    .description('List the tasks of the project, newest first')
    .option('--status <status>', `only those with this status: ${statuses.join(', ')}`)
    .option('--limit <number>', 'how many at most, up to 100', '20')
    .action(async (_options, command: Command) => {
      const options = optionsOf<{ status?: string; limit: string }>(command);
      const status = statuses.find((known) => known === options.status);
      if (options.status !== undefined && status === undefined)
        throw new UsageError(`--status must be one of ${statuses.join(', ')}; ${options.status} was given.`);
      const limit = Number(options.limit);
      if (!Number.isInteger(limit) || limit < 1 || limit > 100)
        throw new UsageError(`--limit must be a whole number from 1 to 100; ${options.limit} was given.`);
      const session = await sessionOf(context, command);
      const found = await listTasks((await session.project()).id, { limit, status }, session.at);
      context.terminal.print(found, () =>
        found.length === 0 ? 'There are no tasks.' : found.map(taskLine).join('\n'),
      );
    });
  withExamples(list, 'deckhand task list --status in_review');
  const show = task
    .command('show')
    .description('Show a task, its pull requests, and what it waits for')
    .argument(...taskArgument)
    .action(async (wanted: string, _options, command: Command) => {
      const session = await sessionOf(context, command);
      const found = await findTask(session, wanted);
      const pullRequests = await listPullRequests(found.id, session.at);
      const about = context.terminal.isJson ? { problems: [] } : await aboutTask(session, found);
      context.terminal.print({ ...found, pullRequests }, () => taskText(found, { pullRequests, ...about }));
    });
  withExamples(show, 'deckhand task show 084sn02q');
}

/** Returns what people want to know of a task beside its own fields. */
async function aboutTask(
  { at }: Session,
  { id, owner, status }: Task,
): Promise<{ agent?: string; problems: string[] }> {
  const agent = owner === null ? undefined : (await getAgent(owner, at)).name;
  const problems = status === 'in_review' ? await problemsOf(at, id) : [];
  return agent === undefined ? { problems } : { agent, problems };
}

/** Returns what speaks against a merge; with `onlyWarnings` without what prevents it, which a refusal names. */
async function problemsOf(at: Session['at'], id: string, { onlyWarnings = false } = {}): Promise<string[]> {
  try {
    const { problems } = await getMergeReadiness(id, at);
    return problems.filter(({ blocks }) => !(blocks && onlyWarnings)).map(({ text }) => text);
  } catch (error) {
    if (!(error instanceof DeckhandError)) throw error;
    return [`It is unknown what speaks against it: ${error.message}`];
  }
}

/** Commands that change the run of a task, and print the task. */
function directCommands(task: Command, context: Context): void {
  const start = task
    .command('start')
    .description('Start a task: its agent works on it and opens a pull request')
    .argument(...taskArgument)
    .option('-a, --agent <agent>', 'give it to this agent first')
    .action(async (wanted: string, _options, command: Command) => {
      const { agent } = optionsOf<{ agent?: string }>(command);
      const session = await sessionOf(context, command);
      const found = await findTask(session, wanted);
      if (agent !== undefined) {
        const owner = await findAgent(session, found.projectId, agent);
        await updateTask(found.id, { owner: owner.id }, session.at);
      }
      const started = await startTask(found.id, {}, session.at);
      context.terminal.print(
        started,
        () => `Started ${taskLine(started)}\nWatch it: deckhand task watch ${started.id}`,
      );
    });
  withExamples(start, 'deckhand task start 084sn02q --agent Developer');
  const verbs = [
    ['cancel', 'Cancel the run of a task; its branch is kept', cancelTask, 'Cancelled'],
    ['resume', 'Let a paused run continue', resumeTask, 'Resumed'],
  ] as const;
  for (const [name, description, call, done] of verbs) {
    const verb = task
      .command(name)
      .description(description)
      .argument(...taskArgument)
      .action(async (wanted: string, _options, command: Command) => {
        const session = await sessionOf(context, command);
        const found = await call((await findTask(session, wanted)).id, {}, session.at);
        context.terminal.print(found, () => `${done} ${taskLine(found)}`);
      });
    withExamples(verb, `deckhand task ${name} 084sn02q`);
  }
}

/** Commands with a text for the agent; `-` reads it from standard input. */
function messageCommands(task: Command, context: Context): void {
  const say = async (session: Session, { id, attention }: Task, words: string) => {
    // A question waits for its answer, and not for one more message.
    if (attention?.reason === 'question') await answerTask(id, { text: words, id: attention.id }, {}, session.at);
    else await sayToTask(id, { text: words }, {}, session.at);
  };
  const revise = async (session: Session, { id }: Task, words: string) => {
    await reviseTask(id, { text: words }, {}, session.at);
  };
  const retry = async (session: Session, { id }: Task, words: string | undefined) => {
    await retryTask(id, words === undefined ? {} : { text: words }, {}, session.at);
  };
  const verbs = [
    ['say', '<text>', 'Send a message to the agent of an unfinished run, or answer its question', say, 'Sent to'],
    ['revise', '<text>', 'Ask for a change to work in review, or to a plan', revise, 'Asked for a change of'],
    ['retry', '[text]', 'Retry a task whose latest run failed, with instructions if you like', retry, 'Started again:'],
  ] as const;
  for (const [name, argument, description, act, done] of verbs) {
    const verb = task
      .command(name)
      .description(description)
      .argument(...taskArgument)
      .argument(argument, 'what to tell the agent; - reads it from standard input')
      .action(async (wanted: string, given: string | undefined, _options, command: Command) => {
        const session = await sessionOf(context, command);
        const found = await findTask(session, wanted);
        await act(session, found, given === '-' ? await text(process.stdin) : (given as string));
        const after = await findTask(session, found.id);
        context.terminal.print(after, () => `${done} ${taskLine(after)}`);
      });
    withExamples(verb, `deckhand task ${name} 084sn02q "Use the existing helper"`);
  }
}

function approveCommand(task: Command, context: Context): void {
  const approve = task
    .command('approve')
    .description('Approve the plan or the change for which a run waits')
    .argument(...taskArgument)
    .option('--id <id>', 'approve only what has this id in "attention" of "task show --json"')
    .action(async (wanted: string, _options, command: Command) => {
      const session = await sessionOf(context, command);
      const found = await findTask(session, wanted);
      const { attention } = found;
      const id = optionsOf<{ id?: string }>(command).id ?? attention?.id;
      if (id === undefined)
        throw new CommandFailed(
          `The task is ${found.status} and waits for no approval. "deckhand inbox" lists what waits for you.`,
        );
      const approved = await approveTask(found.id, { id }, {}, session.at);
      const what = attention?.id === id ? `the ${attention.reason === 'push' ? 'change' : 'plan'} of ` : '';
      context.terminal.print(approved, () => `Approved ${what}${taskLine(approved)}`);
    });
  withExamples(approve, 'deckhand task show 084sn02q', 'deckhand task approve 084sn02q');
}

function mergeCommand(task: Command, context: Context): void {
  const merge = task
    .command('merge')
    .description('Merge the pull requests of a task')
    .argument(...taskArgument)
    .option('--when-ready', 'let GitHub merge them as soon as checks and reviews allow it')
    .action(async (wanted: string, _options, command: Command) => {
      const { whenReady } = optionsOf<{ whenReady?: boolean }>(command);
      const session = await sessionOf(context, command);
      const { id } = await findTask(session, wanted);
      if (!context.terminal.isJson)
        for (const problem of await problemsOf(session.at, id, { onlyWarnings: true }))
          context.terminal.advise(`Note: ${shownLine(problem, 500)}`);
      const merged = await mergeTask(id, { when: whenReady ? 'ready' : 'now' }, {}, session.at);
      const how = merged.merging === null ? 'Merged' : 'Will be merged when ready:';
      context.terminal.print(merged, () => `${how} ${taskLine(merged)}`);
    });
  withExamples(merge, 'deckhand task merge 084sn02q', 'deckhand task merge 084sn02q --when-ready');
}
