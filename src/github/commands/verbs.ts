import { distance } from 'fastest-levenshtein';
import type { EntityManager } from 'typeorm';
import type { App } from '../../app.ts';
import { type AuditAction, changesBetween } from '../../domain/audit.ts';
import { readBudget } from '../../domain/budget.ts';
import { Refused } from '../../domain/machine.ts';
import { oneLine } from '../../domain/text/sanitize.ts';
import { startEnvironmentTrial } from '../../environment/trial.ts';
import { countAsk } from '../../projects/budgets.ts';
import { BranchText } from '../../repositories/schemas.ts';
import { cancelTask, startTask } from '../../runs/operations.ts';
import { addTasks, removeTask } from '../../sprints/operations.ts';
import { listOpenSprints } from '../../sprints/store.ts';
import { getTask } from '../../tasks/store.ts';
import { addSubtask, updateTask } from '../../tasks/update.ts';
import { listLatestRuns } from '../../tasks/work-store.ts';
import { mergeTask } from '../follow/merging/merge.ts';
import { mergeWhenReady } from '../follow/merging/merge-when-ready.ts';
import {
  assertMayDirect,
  assertSeen,
  auditedAct,
  type GivenCommand,
  mustHidePrivate,
  requiredArgument,
  requiredTask,
  taskOfCommand,
  textOf,
} from '../given-command.ts';
import { assertNoOtherWork, openPullsOf } from '../other-work.ts';
import { abandonPlan, plan, startPlanned } from '../planning/plan-verbs.ts';
import { findTaskOfIssue } from '../store.ts';
import { adoptPull } from './adopt-pull.ts';
import { ask } from './ask.ts';
import { agentIfUnowned, agentNamed, defaultAgent, readStart } from './choose-agent.ts';
import {
  assertTextSeen,
  createAndStart,
  createForIssue,
  seenAndHandled,
  showsText,
  updateText,
} from './create-for-issue.ts';
import { pullVerbs } from './pull-verbs.ts';
import { replyVerbs, runVerbs } from './run-verbs.ts';
import { undoVerbs } from './undo-verbs.ts';

/** Changes the named limits of a task's budget and keeps its others. `none` removes the budget. */
async function setBudget(app: App, given: GivenCommand): Promise<void> {
  const taskId = await requiredTask(app, given);
  const { argument } = given.command;
  const isNone = argument.toLowerCase() === 'none';
  const change = readBudget(argument);
  if (change === undefined && !isNone)
    throw new Refused(
      'Write the limit of each run after `budget`: `$8`, `steps 200`, `minutes 30` or `tokens 500000`; or `none`.',
    );
  await updateTask(app, taskId, given.userId, ({ budget }) => ({ budget: isNone ? null : { ...budget, ...change } }));
}

export interface Verb {
  /** The argument of the command, as the help shows it. */
  takes: string;
  does: string;
  /** What the audit log calls it: the name of the same operation of the REST API. */
  audit: AuditAction;
  /** Whether it calls the model. People who are not members may use such verbs only some times an hour; see `countAsk`. */
  asksModel?: boolean;
  /** Whether people without write permission may give it, because it says nothing that the place does not show. */
  isForReaders?: boolean;
  /** The right that it takes in the repositories that the task's run has open: `write` unless it says otherwise. */
  needs?: 'read';
  /** The only place where the help lists it. Without one, the help lists it everywhere. */
  listedOn?: 'issues' | 'pulls';
  /** Whether it also works on pull requests that belong to no task. */
  worksWithoutTask?: boolean;
  /** Whether it may be about the plan of an issue. Such commands of one issue are executed one after another. */
  locksPlan?: boolean;
  act(app: App, given: GivenCommand): Promise<unknown>;
}

/** Each verb calls the same operation as the REST API, so that checks and refusals are the same. */
export const verbs: Record<string, Verb> = {
  help: {
    takes: '',
    does: 'lists the commands',
    audit: 'issue.help',
    isForReaders: true,
    worksWithoutTask: true,
    act: async () => {},
  },
  status: {
    takes: '',
    does: 'updates the status comment',
    audit: 'issue.status',
    isForReaders: true,
    act: requiredTask,
  },
  create: {
    takes: '',
    does: 'creates a task from the issue',
    audit: 'task.create',
    listedOn: 'issues',
    act: async (app, given) => {
      const known = await taskOfCommand(app, given);
      if (known === undefined) await createForIssue(app, given, 'backlog', undefined);
      else app.audit.note({});
    },
  },
  assign: {
    takes: '<agent>',
    does: 'assigns the task to an agent',
    audit: 'task.update',
    act: async (app, given) => {
      const taskId = await requiredTask(app, given);
      const agent = await agentNamed(app, given, requiredArgument(given, 'the name of an agent'));
      await updateTask(app, taskId, given.userId, { owner: agent.id });
    },
  },
  start: {
    takes: '[agent] [plan] [anyway]',
    does: 'starts the agent; with plan, it proposes a plan first; with anyway, other pull requests for the issue do not matter',
    audit: 'task.start',
    act: start,
  },
  retry: {
    takes: '[text]',
    does: 'tries again after a failure, optionally with a hint',
    audit: 'task.retry',
    act: async (app, given) => {
      const taskId = await requiredTask(app, given);
      const [latest] = await listLatestRuns(app.db.manager, taskId, 1);
      if (latest?.finishedAt) assertSeen(given, { what: 'The latest run ended', at: latest.finishedAt });
      const instructions = textOf(given);
      const also = seenAndHandled(app, given, taskId);
      await startTask(app, { taskId, startedBy: given.userId, kind: 'retry', instructions, also });
    },
  },
  cancel: {
    takes: '',
    does: 'cancels the run, or deletes the plan of an issue without a task',
    audit: 'task.cancel',
    locksPlan: true,
    act: async (app, given) => {
      const isPlan = (await taskOfCommand(app, given)) === undefined && (await abandonPlan(app, given));
      if (!isPlan) await cancelTask(app, await requiredTask(app, given));
    },
  },
  ...runVerbs,
  ...pullVerbs,
  ...undoVerbs,
  subtask: {
    takes: '<title>',
    does: 'adds a subtask',
    audit: 'task.add_subtask',
    act: async (app, given) => {
      const title = oneLine(requiredArgument(given, 'a title'), 200);
      await addSubtask(app, await requiredTask(app, given), given.userId, { title, description: '' }, given.remember);
    },
  },
  base: {
    takes: '<branch>',
    does: 'lets the task start from a branch and go into it, before its first run',
    audit: 'task.update',
    act: async (app, given) => {
      const taskId = await requiredTask(app, given);
      const argument = requiredArgument(given, 'the name of a branch');
      const base = BranchText.safeParse(argument);
      if (!base.success) throw new Refused(`${oneLine(argument, 60)} is not the name of a branch.`);
      await updateTask(app, taskId, given.userId, { base: base.data });
    },
  },
  depends: {
    takes: '#n',
    does: 'makes the task wait for the task of another issue',
    audit: 'task.update',
    act: depend,
  },
  budget: { takes: '<$8|steps 200|none>', does: 'limits each run of the task', audit: 'task.update', act: setBudget },
  sprint: {
    takes: '<name|none>',
    does: 'moves the task into a sprint, or out of its sprint',
    audit: 'task.update',
    act: moveToNamedSprint,
  },
  plan: {
    takes: '[text]',
    does: 'plans a sprint from the issue, question by question',
    audit: 'wizard.plan',
    asksModel: true,
    listedOn: 'issues',
    locksPlan: true,
    act: plan,
  },
  ...replyVerbs,
  update: {
    takes: '[issue]',
    does: 'gives the task the text of the issue; with issue, gives the issue the text of the task',
    audit: 'task.update',
    act: updateText,
  },
  ask: {
    takes: '<text>',
    does: 'asks the agent a question; it changes nothing',
    audit: 'task.chat',
    asksModel: true,
    needs: 'read',
    worksWithoutTask: true,
    act: ask,
  },
  setup: {
    takes: '',
    does: 'tries set-up and checks of the default branch, without an agent',
    audit: 'repository.try_environment',
    act: (app, { repository, source, userId, remember }) => {
      app.audit.about({ type: 'repository', id: repository.id, projectId: repository.projectId });
      const asked = { repositoryId: repository.id, userId, issueNumber: source.issue.number, also: remember };
      return startEnvironmentTrial(app, asked);
    },
  },
  merge: {
    takes: '[when ready]',
    does: 'merges the pull requests of the task; `when ready` lets GitHub do it once nothing is missing',
    audit: 'task.merge',
    act: async (app, given) => {
      const { userId, writtenAt, isMissed } = given;
      const { argument } = given.command;
      const isLater = /^when\s+ready$/i.test(argument);
      if (argument !== '' && !isLater) throw new Refused('Write `merge`, or `merge when ready`.');
      if (isMissed)
        throw new Refused('This command reached us late. Look at the changes as they are now, then merge again.');
      const ask = { taskId: await requiredTask(app, given), userId, writtenAt };
      await (isLater ? mergeWhenReady(app, ask) : mergeTask(app, ask));
    },
  },
};

/**
 * Executes a command. Returns the reason when it is refused, otherwise undefined.
 * @throws Refused, or an AppError from the operation
 */
export async function carryOut(app: App, given: GivenCommand): Promise<string | undefined> {
  const name = given.command.verb;
  const isPull = given.source.issue.isPull;
  const verb = verbNamed(name);
  if (isPull && !verb?.worksWithoutTask && (await taskOfCommand(app, given)) === undefined)
    return `This pull request belongs to no task. Only ${namesWithoutTask()} work here.`;
  if (isPull && name === 'plan') return `\`${name}\` works in issues, and this is a pull request.`;
  if (verb === undefined)
    return `There is no such command. Did you mean \`${nearest(name, isPull ? 'pulls' : 'issues')}\`?`;
  const taskId = verb.isForReaders ? undefined : await taskOfCommand(app, given);
  if (taskId !== undefined) await assertMayDirect(app, given.userId, { ...given, taskId }, verb.needs ?? 'write');
  if (verb.asksModel) await countAsk(app, given.repository.projectId, given.userId);
  await app.audit.during(await auditedAct(app, given, verb.audit), () => verb.act(app, given));
  return undefined;
}

/** Returns the declaration of a command. People write the name, so it can be that of a property of every object. */
export function verbNamed(name: string): Verb | undefined {
  return Object.hasOwn(verbs, name) ? verbs[name] : undefined;
}

/** Names the commands for pull requests without a task: `help`, `review` and so on. */
function namesWithoutTask(): string {
  const names = Object.keys(verbs).filter((name) => verbs[name]?.worksWithoutTask);
  return new Intl.ListFormat('en-GB').format(names.map((name) => `\`${name}\``));
}

/** Returns the command for a place that is most like a word; of those that are as much alike, one with its first letter. */
function nearest(name: string, place: 'issues' | 'pulls'): string {
  const word = name.slice(0, 50);
  const apart = (verb: string) => 2 * distance(word, verb) + Number(verb[0] !== word[0]);
  const here = Object.entries(verbs).filter(([, { listedOn = place }]) => listedOn === place);
  return here.map(([verb]) => verb).reduce((best, verb) => (apart(verb) < apart(best) ? verb : best));
}

async function start(app: App, given: GivenCommand): Promise<void> {
  const { userId } = given;
  const em = app.db.manager;
  const known = await taskOfCommand(app, given);
  const { name, planFirst, isAnyway } = await readStart(em, given);
  if (known === undefined && name === '' && !planFirst && (await startPlanned(app, given))) return;
  const named = name === '' ? undefined : await agentNamed(app, given, name);
  const owner = named ?? (await agentIfUnowned(app, given, known));
  const setting = planFirst ? { planFirst } : {};
  const open = isAnyway && known !== undefined ? [] : await openPullsOf(given);
  if (known === undefined) {
    const agent = owner ?? (await defaultAgent(app, given));
    if (await adoptPull(app, given, agent, open)) return;
    if (!isAnyway) await assertNoOtherWork(app, given, known, open);
    return createAndStart(app, given, { agent, ...setting });
  }
  if (!isAnyway) await assertNoOtherWork(app, given, known, open);
  const starting = { taskId: known, startedBy: userId, kind: 'start', owner: owner?.id } as const;
  const isTextSeen = (tx: EntityManager) => showsText(app, tx, given, known);
  await startTask(app, { ...starting, ...setting, isTextSeen, also: seenAndHandled(app, given, known) });
}

async function depend(app: App, given: GivenCommand): Promise<void> {
  const taskId = await requiredTask(app, given);
  const number = Number(/^#(\d{1,9})$/.exec(given.command.argument)?.[1]);
  if (!number) throw new Refused('Write the number of an issue in this repository after `depends`, such as #12.');
  const other = await findTaskOfIssue(app.db.manager, given.repository.id, number);
  if (other === undefined) throw new Refused(`Issue ${number} of this repository has no task.`);
  await updateTask(app, taskId, given.userId, ({ dependsOn }) => ({ dependsOn: [...dependsOn, other] }));
}

/** Finds the sprint by its name among the planned and active ones, ignoring case. */
async function moveToNamedSprint(app: App, given: GivenCommand): Promise<void> {
  const taskId = await requiredTask(app, given);
  const name = requiredArgument(given, 'the name of a sprint, or none');
  const { sprintId } = await getTask(app.db.manager, taskId);
  if (name.toLowerCase() === 'none') {
    app.audit.note(changesBetween({ sprintId }, { sprintId: null }, ['sprintId']));
    if (sprintId !== null) await removeTask(app, sprintId, taskId);
    return;
  }
  const open = await listOpenSprints(app.db.manager, given.repository);
  const found = open.filter((s) => s.name.toLowerCase() === name.toLowerCase());
  const [sprint] = found;
  if (sprint === undefined || found.length > 1) {
    const count = sprint === undefined ? 'No' : 'More than one';
    // Who reads this repository need not see what others of the project are about.
    const known = (await mustHidePrivate(app, given)) ? [] : open.filter(({ hasRepository }) => hasRepository);
    const names = known.slice(0, 20).map((s) => oneLine(s.name, 60));
    const here = names.length === 0 ? '' : `With tasks of this repository there are: ${names.join(', ')}. `;
    throw new Refused(
      `${count} planned or active sprint is named ${oneLine(name, 60)}. ${here}The dashboard lists all sprints.`,
    );
  }
  app.audit.note(changesBetween({ sprintId }, { sprintId: sprint.id }, ['sprintId']));
  const also = (em: EntityManager) => assertTextSeen(app, em, given, taskId);
  const isTextSeen = (em: EntityManager) => showsText(app, em, given, taskId);
  await addTasks(app, sprint.id, [taskId], () => 'sprint', given.userId, { isTextSeen, also });
}
