import type { JobName, Jobs } from '../../../src/queue/names.ts';
import type { Play } from './plays.ts';
import { plannedIssue, reviewedTask, say, sprint, startedTask, taskOnIssue } from './props.ts';
import type { Stage } from './stage.ts';

const repo = '/repos/mona/sample';

/** Sends a job as the service does. */
async function send<N extends JobName>({ service }: Stage, name: N, data: Jobs[N]): Promise<void> {
  await service.app.queue.send(undefined, name, data, { key: `${name} of the play` });
}

/** A sprint with two tasks, of which one runs. */
async function activeSprint(stage: Stage): Promise<{ id: string; name: string }> {
  const made = await sprint(stage);
  const { task } = await taskOnIssue(stage);
  await stage.ask('PATCH', `/tasks/${task}`, { owner: stage.agent, status: 'ready' });
  await stage.ask('POST', `/sprints/${made.id}/tasks`, { taskId: task });
  await stage.settle();
  return made;
}

/** Lets something happen on GitHub of which no event arrives. */
async function unseen(stage: Stage, act: () => Promise<unknown>): Promise<void> {
  await act();
  await stage.loseEvents();
}

/** For each job. Where another play causes the job, it is named. */
export const jobPlays: Record<JobName, Play | string> = {
  delivery: 'the plays of events',
  automation: 'test/automations: it asks GitHub only whether a task can start',
  run: 'test/e2e/faults/kill-points.long.test.ts: runs have a table of their own',
  suggestions: 'test/agents: it asks the model only',
  plan: 'plan answer',
  trial: 'setup',
  trialAnswer: 'setup',
  agentTrial: 'test/e2e/lab/trials.long.test.ts: it says nothing on GitHub',
  continue: async (stage) => {
    const { task } = await taskOnIssue(stage);
    const { id } = await stage.ask('POST', `/tasks/${task}/subtasks`, { title: 'Half' });
    await stage.settle();
    await stage.sql(`update tasks set split_by_agent = true, owner = $2 where id = $1`, [task, stage.agent]);
    await stage.sql(`update tasks set status = 'done' where id = $1`, [id]);
    return () => send(stage, 'continue', { taskId: task });
  },
  mirror: async (stage) => {
    const { id } = await stage.ask('POST', `/projects/${stage.project}/tasks`, { title: 'Greet' });
    await stage.settle();
    await stage.sql('update tasks set wants_issue = true where id = $1', [id]);
    return () => send(stage, 'mirror', { taskId: id, recheck: true });
  },
  tidy: async (stage) => {
    const { task } = await reviewedTask(stage);
    return () => stage.ask('DELETE', `/tasks/${task}`);
  },
  sprint: async (stage) => {
    const { id } = await activeSprint(stage);
    return () => stage.ask('POST', `/sprints/${id}/start`);
  },
  digest: async (stage) => {
    const { id } = await activeSprint(stage);
    await stage.ask('POST', `/sprints/${id}/start`);
    await stage.settle();
    return () => stage.ask('POST', `/sprints/${id}/complete`, { unfinished: 'backlog' });
  },
  milestones: async (stage) => {
    const { id, name } = await activeSprint(stage);
    // Before that it has no milestone.
    await stage.ask('POST', `/sprints/${id}/start`);
    await stage.settle();
    return () => stage.ask('PATCH', `/sprints/${id}`, { name: `${name} b`, goal: 'Greet' });
  },
  compare: async (stage) => {
    const { number } = await startedTask(stage);
    await unseen(stage, () => say(stage, number, '/agent cancel'));
    return () => send(stage, 'compare', { projectId: stage.project });
  },
  cancel: async (stage) => {
    const { id } = await activeSprint(stage);
    await stage.ask('POST', `/sprints/${id}/start`);
    await stage.settle();
    return () => stage.ask('POST', `/sprints/${id}/cancel`);
  },
  prd: async (stage) => {
    const { session: sessionId } = await plannedIssue(stage, 3);
    await stage.ask('PATCH', `/repositories/${stage.repository}`, { isDocsRepo: true });
    // Only the job: the play of the command approve has the rest, and with all of it this row takes half an hour.
    return () => send(stage, 'prd', { projectId: stage.project, sessionId });
  },
  pull: async (stage) => {
    const { pull } = await reviewedTask(stage);
    await unseen(stage, () => stage.github.as('mona')('PATCH', `${repo}/pulls/${pull}`, { state: 'closed' }));
    return () => send(stage, 'pull', { repositoryId: stage.repository, number: pull });
  },
  webhook: 'test/notices/webhooks.test.ts: it says nothing on GitHub',
  mail: 'test/notices/mail.long.test.ts: it says nothing on GitHub',
  diff: 'test/github/follow/one-fails.long.test.ts: it clones, and asks GitHub only for a token',
  collisions: 'test/e2e/collisions: it clones, and says nothing on GitHub',
  proof: 'test/e2e/hostile/taken.long.test.ts: it queues a run, and runs have a table of their own',
  proofCheck: 'test/github/mirror/same-head.long.test.ts: what it shows depends on what other jobs have stored',
  review: 'test/e2e/reviewing/rounds.long.test.ts: it queues a run, and runs have a table of their own',
  redeliver: async (stage) => {
    const { number } = await startedTask(stage);
    await unseen(stage, () => say(stage, number, '/agent cancel'));
    return () => send(stage, 'redeliver', {});
  },
  sweep: async (stage) => {
    const { number } = await startedTask(stage);
    await unseen(stage, () => say(stage, number, '/agent cancel'));
    return () => send(stage, 'sweep', {});
  },
};
