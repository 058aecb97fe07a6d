import { followRun } from './follow.ts';
import type { DemoGitHub } from './github/github.ts';
import { issue, laterIssues, plannedTask, releaseTasks, unclearTask } from './model/story.ts';
import { type RunningService, until } from './real-service.ts';
import { type FileDiff, say, show, showDiff } from './terminal.ts';

interface Task {
  id: string;
  title: string;
  status: string;
  prUrl: string | null;
  branchName: string | null;
  failure: { message: string } | null;
}

/** Everything the demo works with: the service, a person's token for it, the project, and GitHub. */
export interface Stage {
  service: RunningService;
  token: string;
  projectId: string;
  github: DemoGitHub;
}

const get = <T>({ service, token }: Stage, path: string) => service.api<T>(token, 'GET', path);
const post = <T>({ service, token }: Stage, path: string, body: object = {}) =>
  service.api<T>(token, 'POST', path, body);

/** Plays an issue, a comment, a run, a pull request and a merge; returns the task. */
export async function playTask(stage: Stage): Promise<Task> {
  const mona = stage.github.as('mona');
  const { number } = await mona<{ number: number }>('POST', '/repos/mona/sample/issues', issue);
  say(`mona opens issue #${number}: ${issue.title}`);
  await mona('POST', `/repos/mona/sample/issues/${number}/comments`, { body: '/agent start' });
  say('mona comments: /agent start');
  const task = await until('the task', async () => (await get<Task[]>(stage, `/projects/${stage.projectId}/tasks`))[0]);
  say(`task ${task.id} is created and starts`);
  const run = await until('the run', async () => (await get<{ id: string }[]>(stage, `/tasks/${task.id}/runs`))[0]);
  await followRun({ ...stage, url: stage.service.url }, run.id, ({ type, text }) => say(`  ${type}: ${text}`));
  const proposed = await get<Task>(stage, `/tasks/${task.id}`);
  if (proposed.status !== 'in_review')
    throw new Error(`the task is ${proposed.status}: ${proposed.failure?.message ?? 'no reason given'}`);
  say(`pull request ${proposed.prUrl} from ${proposed.branchName}`);
  const { files } = await get<{ files: FileDiff[] }>(stage, `/tasks/${task.id}/diff`);
  for (const file of files) showDiff(file);
  await post(stage, `/tasks/${task.id}/merge`);
  say('mona merges it (POST /tasks/:id/merge)');
  await showIssue(stage, number);
  return proposed;
}

/** Prints what people see on GitHub at the end. */
async function showIssue(stage: Stage, number: number): Promise<void> {
  const mona = stage.github.as('mona');
  const at = `/repos/mona/sample/issues/${number}`;
  const shown = await until('agent:done on the issue', async () => {
    const found = await mona<{ state: string; labels: { name: string }[] }>('GET', at);
    // The new label is added before the old one is removed, so wait until only the new one is left.
    const isSettled = found.labels.map((l) => l.name).join() === 'agent:done';
    return isSettled && found.state === 'closed' && found;
  });
  say(`issue #${number} is ${shown.state}, labels: ${shown.labels.map((l) => l.name).join(', ')}`);
  const comments = await until('the status comment', async () => {
    const found = await mona<{ user: { login: string }; body: string }[]>('GET', `${at}/comments`);
    return found.some((c) => c.body.includes('✅ Done')) && found;
  });
  for (const { user, body } of comments) show(`${user.login}: ${body.split('\n').join('\n  ')}`);
}

/** Opens issues that people can import as tasks. */
export async function openIssues({ github }: Stage): Promise<void> {
  for (const each of laterIssues) await github.as('mona')('POST', '/repos/mona/sample/issues', each);
  say(`mona opens ${laterIssues.length} more issues, which the dashboard can import`);
}

/** Plays a task that the agent gives up, so that people can find out why and start it again. */
export async function playFailure(stage: Stage): Promise<void> {
  const agents = await get<{ id: string; name: string }[]>(stage, '/agents');
  const owner = agents.find(({ name }) => name === 'Developer')?.id;
  const { id } = await post<Task>(stage, `/projects/${stage.projectId}/tasks`, { ...unclearTask, owner });
  await post(stage, `/tasks/${id}/start`);
  const failed = await until('the task to fail', async () => {
    const task = await get<Task>(stage, `/tasks/${id}`);
    return task.failure !== null && task;
  });
  say(`task "${failed.title}" failed: ${failed.failure?.message}`);
}

/** Starts a task whose agent proposes a plan, and leaves the plan for people to decide. It is the first entry of their inbox. */
export async function playPlan(stage: Stage): Promise<void> {
  const agents = await get<{ id: string; name: string }[]>(stage, '/agents');
  const owner = agents.find(({ name }) => name === 'Developer')?.id;
  const asked = { ...plannedTask, owner, planFirst: true };
  const { id, title } = await post<Task>(stage, `/projects/${stage.projectId}/tasks`, asked);
  await post(stage, `/tasks/${id}/start`);
  await until('the plan', async () => {
    const { attention } = await get<{ attention: { reason: string } | null }>(stage, `/tasks/${id}`);
    return attention?.reason === 'plan';
  });
  say(`the agent of "${title}" proposes a plan, which waits for you`);
}

/** Plays a short sprint with tasks that people do themselves. Its pace gives later sprints a forecast. */
export async function playSprint(stage: Stage): Promise<void> {
  const project = `/projects/${stage.projectId}`;
  const today = new Date().toISOString().slice(0, 10);
  const name = 'First release';
  const sprint = await post<{ id: string }>(stage, `${project}/sprints`, { name, startDate: today, endDate: today });
  const tasks = releaseTasks.map((title) => ({ title, sprintId: sprint.id }));
  const created = await post<Task[]>(stage, `${project}/tasks/bulk`, { tasks });
  await post(stage, `/sprints/${sprint.id}/start`);
  for (const { id } of created) await stage.service.api(stage.token, 'PATCH', `/tasks/${id}`, { status: 'done' });
  await post(stage, `/sprints/${sprint.id}/complete`);
  say(`sprint "${name}" is completed: people finished ${created.length} tasks`);
}

/** Plays a question about the task, and the agent's answer. */
export async function playChat(stage: Stage, task: Task): Promise<void> {
  const message = 'What did you change, and why?';
  say(`mona asks about the task: ${message}`);
  const { response } = await post<{ response: string }>(stage, `/tasks/${task.id}/chat`, { message });
  say('the agent answers');
  show(response);
}

interface Step {
  id: string;
  question: string;
  options: { id: string; label: string }[];
}

/** Plays the planning wizard: a goal, questions, requirements, a plan, and a sprint with tasks. */
export async function playWizard(stage: Stage): Promise<void> {
  const wizard = `/projects/${stage.projectId}/wizard`;
  const goal = 'Slugs keep numbers and units readable';
  say(`mona opens the planning wizard: ${goal}`);
  const begun = await post<{ sessionId: string; currentStep: Step }>(stage, `${wizard}/initialize`, { goal });
  const { sessionId } = begun;
  for (let step: Step | null = begun.currentStep; step !== null; ) {
    const chosen = step.options[0];
    say(`  ${step.question} ${chosen?.label}`);
    const answer = { stepId: step.id, selectedOptionIds: chosen === undefined ? [] : [chosen.id] };
    const answered: { currentStep: Step | null } = await post(stage, `${wizard}/${sessionId}/answer`, { answer });
    step = answered.currentStep;
  }
  const { prd } = await post<{ prd: { title: string } }>(stage, `${wizard}/generate-prd`, { sessionId });
  say(`  requirements: ${prd.title}`);
  const { plan } = await post<{ plan: { phases: { name: string }[] } }>(stage, `${wizard}/generate-plan`, {
    sessionId,
  });
  say(`  plan: ${plan.phases.map((p) => p.name).join(', ')}`);
  await post(stage, `${wizard}/generate-tasks`, { sessionId });
  const { sprint, tasks } = await post<{ sprint: { name: string }; tasks: { title: string }[] }>(
    stage,
    `${wizard}/${sessionId}/finalize`,
  );
  say(`sprint "${sprint.name}" with ${tasks.length} tasks`);
  for (const { title } of tasks) show(title);
}
