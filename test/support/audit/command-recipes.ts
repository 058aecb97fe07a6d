import type { carryOut } from '../../../src/github/commands/verbs.ts';
import { findRepository } from '../../../src/repositories/store.ts';
import type { Workshop } from './workshop.ts';

type GivenCommand = Parameters<typeof carryOut>[1];

/** A command on an issue: its argument, and the task that the issue belongs to. */
interface Order {
  argument?: string;
  issue: number;
  repository?: string;
  isPull?: true;
}

let issues = 1000;

/**
 * For each comment command, by its verb: prepares what the command needs. A new command needs a recipe here, because the
 * test of the audit log carries out every command once.
 */
export const commandRecipes: Record<string, (shop: Workshop) => Promise<Order> | Order> = {
  help: () => ({ issue: ++issues }),
  status: (shop) => onTask(shop, shop.newTask()),
  create: () => ({ issue: ++issues }),
  update: (shop) => onTask(shop, shop.newTask()),
  assign: (shop) => onTask(shop, shop.newTask(), 'reviewer'),
  start: () => ({ issue: ++issues }),
  retry: async (shop) => {
    const task = await shop.startedTask();
    await shop.ask('POST', `/tasks/${task}/cancel`);
    return onTask(shop, task, 'once more');
  },
  cancel: (shop) => onTask(shop, shop.startedTask()),
  revise: async (shop) => onTask(shop, (await shop.reviewedTask()).task, 'rename it'),
  say: (shop) => onTask(shop, shop.startedTask(), 'hurry'),
  pause: (shop) => onTask(shop, shop.startedTask()),
  resume: (shop) => onTask(shop, shop.waitingTask('paused')),
  rewind: async (shop) => onTask(shop, (await shop.talkedTask()).task, '1 otherwise'),
  subtask: (shop) => onTask(shop, shop.newTask(), 'The first half'),
  base: (shop) => onTask(shop, shop.newTask(), 'release'),
  depends: async (shop) => {
    const other = await onTask(shop, shop.newTask());
    return onTask(shop, shop.newTask(), `#${other.issue}`);
  },
  sprint: async (shop) => {
    const { name } = await shop.ask<{ name: string }>('GET', `/sprints/${await shop.newSprint()}`);
    return onTask(shop, shop.newTask(), name);
  },
  budget: (shop) => onTask(shop, shop.newTask(), '$3'),
  plan: () => ({ issue: ++issues }),
  answer: (shop) => onTask(shop, shop.waitingTask('question'), 'yes'),
  approve: (shop) => onTask(shop, shop.waitingTask('plan')),
  ask: (shop) => onTask(shop, shop.newTask(), 'Why?'),
  setup: () => ({ issue: ++issues }),
  merge: async (shop) => onTask(shop, (await shop.reviewedTask()).task),
  undo: async (shop) => onTask(shop, await shop.mergedTask()),
  quote: (shop) => onTask(shop, shop.newTask()),
  review: () => ({ issue: ++issues, isPull: true }),
  prove: () => ({ issue: ++issues, isPull: true }),
  fix: () => ({ issue: ++issues, isPull: true, argument: 'the typo' }),
};

/** Links a task to a new issue. */
async function onTask({ sql, repository }: Workshop, task: Promise<string> | string, argument = ''): Promise<Order> {
  const issue = ++issues;
  await sql('update tasks set issue_repository_id = $2, issue_number = $3, issue_url = $4 where id = $1', [
    await task,
    repository,
    issue,
    `https://github.com/a/r/issues/${issue}`,
  ]);
  return { issue, argument };
}

/** Returns commands on the issue of a plan for a sprint, with the actions that are recorded. */
export async function planCommands(shop: Workshop): Promise<[verb: string, action: string, order: Order][]> {
  const asked = await planned(shop);
  const written = await planned(shop);
  await shop.planUpTo(written.session, ['prd', 'plan', 'tasks']);
  const repository = await inInstalled(shop, written.session);
  return [
    ['answer', 'wizard.answer', { issue: asked.issue, argument: 'teams' }],
    ['approve', 'wizard.finalize', { issue: written.issue, repository }],
    ['start', 'sprint.start', { issue: written.issue, repository }],
  ];
}

async function planned(shop: Workshop): Promise<{ issue: number; session: string }> {
  const issue = ++issues;
  const session = await shop.newSession();
  await shop.sql('update wizard_sessions set issue_repository_id = $2, issue_number = $3 where id = $1', [
    session,
    shop.repository,
    issue,
  ]);
  return { issue, session };
}

/** Moves a planning session to another repository, on which the App is installed, and returns it. */
async function inInstalled({ ask, sql, project, github }: Workshop, session: string): Promise<string> {
  const body = { projectId: project, name: 'installed', url: `${github.url}/a/installed` };
  const { id } = await ask('POST', '/repositories', body);
  await sql('update repositories set is_installed = true where id = $1', [id]);
  await sql(
    'update wizard_sessions set issue_repository_id = $2, repository_ids = jsonb_build_array($2::text) where id = $1',
    [session, id],
  );
  return id;
}

/** Returns a command as the owner of the project would give it in a comment. */
export async function commandOf(shop: Workshop, verb: string, order: Order): Promise<GivenCommand> {
  const { app } = shop.service;
  const { issue, argument = '' } = order;
  const repository = await findRepository(app.db.manager, order.repository ?? shop.repository);
  if (repository === null) throw new Error('the workshop has no repository');
  const { id: userId } = await shop.ask('GET', '/me');
  const url = `https://github.com/a/r/issues/${issue}`;
  return {
    command: { verb, argument, line: 0, text: argument, isCut: false, comment: argument },
    source: {
      issue: { number: issue, title: 'Greet', body: 'by name', shown: 'by name', url, isPull: order.isPull ?? false },
    },
    commentId: issue,
    at: { octokit: app.githubWithToken('ghp_x'), name: { owner: 'a', repo: 'r' } },
    repository,
    userId,
    via: 'comment',
    writtenAt: new Date(Date.now() + 1000),
    isMissed: false,
    remember: async () => {},
  };
}
