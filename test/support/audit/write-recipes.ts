import { makeBenchmark, makeTrial } from '../everything.ts';
import { newItem } from './benchmark-rows.ts';
import type { Workshop } from './workshop.ts';

/** A request that succeeds and changes something. */
interface Request {
  path: string;
  body?: unknown;
}

/**
 * For each route that changes something, by its `operationId`: prepares what the operation needs and returns a request.
 * A new route needs a recipe here, because the test of the audit log performs every write once.
 */
export const writeRecipes: Record<string, (shop: Workshop) => Promise<Request> | Request> = {
  createToken: () => ({ path: '/me/tokens', body: { name: 't' } }),
  revokeToken: async ({ ask }) => ({ path: `/me/tokens/${(await ask('POST', '/me/tokens', { name: 't' })).id}` }),
  setNotices: () => ({ path: '/me/notices', body: { mail: 'now', address: 'owner@example.com' } }),
  confirmNotices: async ({ ask }) => {
    await ask('PATCH', '/me/notices', { address: 'other@example.com' });
    return { path: '/me/notices/confirmation' };
  },
  createProject: () => ({ path: '/projects', body: { name: 'Another' } }),
  updateProject: ({ project }) => ({ path: `/projects/${project}`, body: { description: 'changed' } }),
  deleteProject: async ({ newProject }) => ({ path: `/projects/${(await newProject()).project}` }),
  addMember: ({ project }) => ({ path: `/projects/${project}/members`, body: { login: 'added', role: 'member' } }),
  updateMember: async (shop) => ({ path: await memberPath(shop, 'promoted'), body: { role: 'admin' } }),
  removeMember: async (shop) => ({ path: await memberPath(shop, 'removed') }),
  setGitToken: ({ project }) => ({ path: `/projects/${project}/git-token`, body: { token: 'ghp_other' } }),
  removeGitToken: async ({ newProject }) => ({ path: `/projects/${(await newProject()).project}/git-token` }),
  setModelToken: async ({ newProject }) => ({
    path: `/projects/${(await newProject()).project}/model-token`,
    body: { token: 'sk-other' },
  }),
  removeModelToken: async ({ newProject, ask }) => {
    const path = `/projects/${(await newProject()).project}/model-token`;
    await ask('POST', path, { token: 'sk-other' });
    return { path };
  },
  setMcpServers: ({ project }) => ({
    path: `/projects/${project}/mcp-servers`,
    body: [{ name: 'tracker', url: 'https://mcp.example.com/mcp' }],
  }),
  tryMcpServer: ({ project }) => ({
    path: `/projects/${project}/mcp-servers/try`,
    body: { name: 'tracker', url: 'https://mcp.invalid/mcp' },
  }),
  createWebhook: ({ project }) => ({ path: `/projects/${project}/webhooks`, body: newWebhook }),
  updateWebhook: async (shop) => ({ path: await webhookPath(shop), body: { events: ['proof'] } }),
  deleteWebhook: async (shop) => ({ path: await webhookPath(shop) }),
  testWebhook: async (shop) => ({ path: `${await webhookPath(shop)}/test` }),
  redeliverWebhook: async (shop) => {
    const path = await webhookPath(shop);
    const { id } = await shop.ask('POST', `${path}/test`);
    return { path: `${path}/deliveries/${id}/redeliver` };
  },
  setEnvironmentSecret: ({ project }) => ({
    path: `/projects/${project}/environment-secrets/NPM_TOKEN`,
    body: { value: 'a value of a secret', repositories: [] },
  }),
  removeEnvironmentSecret: async ({ project, ask }) => {
    const path = `/projects/${project}/environment-secrets/OLD_TOKEN`;
    await ask('PUT', path, { value: 'a value of a secret', repositories: [] });
    return { path };
  },
  createAutomation: ({ project, agent, repository }) => ({
    path: `/projects/${project}/automations`,
    body: nightly(agent, repository),
  }),
  updateAutomation: async (shop) => ({ path: await automationPath(shop), body: { name: 'Weekly' } }),
  deleteAutomation: async (shop) => ({ path: await automationPath(shop) }),
  runAutomation: async (shop) => ({ path: `${await automationPath(shop)}/run` }),
  saveView: ({ project }) => ({ path: `/projects/${project}/views/Mine`, body: { query: 'state=failed' } }),
  deleteView: async ({ project, ask }) => {
    const path = `/projects/${project}/views/Old`;
    await ask('PUT', path, { query: '' });
    return { path };
  },
  startEnvironmentTrial: async ({ newProject }) => ({
    path: `/repositories/${(await newProject()).repository}/environment`,
  }),
  reviewPullRequest: ({ repository }) => ({ path: `/repositories/${repository}/pulls/501/review` }),
  forgetReviewExample: async ({ repository, ask, sql }) => {
    const { id: run } = await ask('POST', `/repositories/${repository}/pulls/502/review`);
    await sql(
      `insert into review_notes (id, run_id, repository_id, number, place, path, line, side, quote, severity, text, not_useful, not_useful_at)
       values ('note_1', $1, $2, 502, 0, 'a.js', 1, 'RIGHT', '', 'minor', 'A word.', 'resolved', now())`,
      [run, repository],
    );
    return { path: `/repositories/${repository}/review-examples/note_1` };
  },
  startHarvest: async ({ newProject }) => ({ path: `/repositories/${(await newProject()).repository}/benchmark` }),
  switchBenchmarkItem: async ({ newProject, ask, sql }) => {
    const { repository } = await newProject();
    await ask('POST', `/repositories/${repository}/benchmark`);
    await sql(newItem, [`item_${repository}`, repository]);
    return { path: `/repositories/${repository}/benchmark/items/item_${repository}`, body: { enabled: false } };
  },
  connectRepository: ({ project, github }) => ({
    path: '/repositories',
    body: { projectId: project, name: 'second', url: `${github.url}/a/second` },
  }),
  updateRepository: ({ repository }) => ({ path: `/repositories/${repository}`, body: { defaultBranch: 'trunk' } }),
  disconnectRepository: async ({ newProject }) => ({ path: `/repositories/${(await newProject()).repository}` }),
  validateRepository: ({ repository }) => ({ path: `/repositories/${repository}/validate` }),
  importIssues: async ({ newProject, sql }) => {
    const { project, repository } = await newProject();
    await sql(
      `insert into installations (installation_id, account_login, account_id, account_type, status, project_id)
       values (7, 'elsewhere', 7, 'User', 'active', $1)`,
      [project],
    );
    await sql('update repositories set is_installed = true where id = $1', [repository]);
    return { path: `/repositories/${repository}/issues`, body: { numbers: [77] } };
  },
  createAgent: () => ({ path: '/agents', body: { name: 'mine' } }),
  updateAgent: async (shop) => ({ path: await agentPath(shop), body: { description: 'changed' } }),
  deleteAgent: async (shop) => ({ path: await agentPath(shop) }),
  resetAgentHealth: async (shop) => ({ path: `${await agentPath(shop)}/health/reset` }),
  evolveAgent: async (shop) => ({ path: `${await agentPath(shop)}/evolve`, body: { improvements: ['x'] } }),
  startTrial: async ({ service, project, repository, sql, ask }) => {
    await makeBenchmark(service, repository);
    await sql(`update agent_trials set status = 'done', finished_at = now() where status = 'running'`);
    const agents = await ask<{ id: string }[]>('GET', `/agents?projectId=${project}`);
    return { path: `/agents/${agents.at(-1)?.id}/trials`, body: { repositoryId: repository, budget: { costUsd: 1 } } };
  },
  cancelTrial: async ({ service, newProject }) => {
    const { repository: repositoryId, agent: agentId } = await newProject();
    const id = `trial_of_${repositoryId}`;
    await makeTrial(service, { id, repositoryId, agentId, status: 'running' });
    return { path: `/trials/${id}/cancel` };
  },
  createTask: ({ project }) => ({ path: `/projects/${project}/tasks`, body: { title: 'new' } }),
  createTasks: ({ project }) => ({
    path: `/projects/${project}/tasks/bulk`,
    body: { tasks: [{ title: 'one' }, { title: 'two' }] },
  }),
  updateTask: async ({ newTask }) => ({ path: `/tasks/${await newTask()}`, body: { title: 'other', status: 'ready' } }),
  deleteTask: async ({ newTask }) => ({ path: `/tasks/${await newTask()}` }),
  createSubtask: async ({ newTask }) => ({ path: `/tasks/${await newTask()}/subtasks`, body: { title: 'part' } }),
  chatAboutTask: async ({ newTask }) => ({ path: `/tasks/${await newTask()}/chat`, body: { message: 'Why?' } }),
  startTask: async ({ newTask }) => ({ path: `/tasks/${await newTask()}/start` }),
  retryTask: async ({ startedTask, ask }) => {
    const task = await startedTask();
    await ask('POST', `/tasks/${task}/cancel`);
    return { path: `/tasks/${task}/retry`, body: { text: 'once more' } };
  },
  reviseTask: async ({ reviewedTask }) => ({
    path: `/tasks/${(await reviewedTask()).task}/revise`,
    body: { text: 'rename it' },
  }),
  cancelTask: async ({ startedTask }) => ({ path: `/tasks/${await startedTask()}/cancel` }),
  snoozeInboxEntry: async ({ waitingTask }) => ({
    path: `/me/inbox/${await waitingTask('plan')}/snooze`,
    body: { until: new Date(Date.now() + 3_600_000).toISOString() },
  }),
  endInboxSnooze: async ({ waitingTask, ask }) => {
    const path = `/me/inbox/${await waitingTask('plan')}/snooze`;
    await ask('POST', path, { until: new Date(Date.now() + 3_600_000).toISOString() });
    return { path };
  },
  approveTask: async ({ waitingTask }) => ({ path: `/tasks/${await waitingTask('plan')}/approve` }),
  answerTask: async ({ waitingTask }) => ({
    path: `/tasks/${await waitingTask('question')}/answer`,
    body: { text: 'yes' },
  }),
  sayToTask: async ({ startedTask }) => ({ path: `/tasks/${await startedTask()}/say`, body: { text: 'hurry' } }),
  pauseTask: async ({ startedTask }) => ({ path: `/tasks/${await startedTask()}/pause` }),
  resumeTask: async ({ waitingTask }) => ({ path: `/tasks/${await waitingTask('paused')}/resume` }),
  rewindTask: async (shop) => {
    const { task, run } = await shop.talkedTask();
    return { path: `/tasks/${task}/rewind`, body: { runId: run, turn: 1, text: 'otherwise' } };
  },
  undoTask: async ({ mergedTask }) => ({ path: `/tasks/${await mergedTask()}/undo` }),
  stopMergingTask: async ({ reviewedTask, sql }) => {
    const { task } = await reviewedTask();
    await sql(
      `insert into merges (repository_id, number, state, since, reason)
       select repository_id, number, 'waiting', now(), 'It waits.' from pull_requests where task_id = $1`,
      [task],
    );
    return { path: `/tasks/${task}/merge` };
  },
  mergeTask: async ({ reviewedTask }) => ({ path: `/tasks/${(await reviewedTask()).task}/merge` }),
  reconcileTasks: () => ({ path: '/agents/pool/reconcile' }),
  createSprint: ({ project }) => ({
    path: `/projects/${project}/sprints`,
    body: { name: 'S', startDate: '2026-01-01', endDate: '2026-01-14' },
  }),
  updateSprint: async ({ newSprint }) => ({ path: `/sprints/${await newSprint()}`, body: { goal: 'changed' } }),
  startSprint: async ({ newProject, newSprint }) => ({
    path: `/sprints/${await newSprint((await newProject()).project)}/start`,
  }),
  completeSprint: async ({ activeSprint }) => ({ path: `/sprints/${await activeSprint()}/complete` }),
  cancelSprint: async ({ activeSprint }) => ({ path: `/sprints/${await activeSprint()}/cancel` }),
  deleteSprint: async ({ newSprint }) => ({ path: `/sprints/${await newSprint()}` }),
  chatAboutSprint: async ({ newSprint }) => ({
    path: `/sprints/${await newSprint()}/chat-with-dev-lead`,
    body: { message: 'How far are we?' },
  }),
  addSprintTask: async ({ newSprint, newTask }) => ({
    path: `/sprints/${await newSprint()}/tasks`,
    body: { taskId: await newTask() },
  }),
  addSprintTasks: async ({ newSprint, newTask }) => ({
    path: `/sprints/${await newSprint()}/tasks/bulk`,
    body: { taskIds: [await newTask(), await newTask()] },
  }),
  removeSprintTask: async ({ newSprint, newTask }) => {
    const sprintId = await newSprint();
    return { path: `/sprints/${sprintId}/tasks/${await newTask({ sprintId })}` };
  },
  startWizard: (shop) => ({ path: `${wizard(shop)}/initialize`, body: { goal: 'Greet everybody' } }),
  answerWizard: async (shop) => {
    const session = await shop.newSession();
    const { currentStep } = await shop.ask<{ currentStep: { id: string } }>('GET', `${wizard(shop)}/${session}`);
    const answer = { stepId: currentStep.id, customText: 'teams' };
    return { path: `${wizard(shop)}/${session}/answer`, body: { answer } };
  },
  generatePrd: async (shop) => {
    const sessionId = await shop.newSession(['prd']);
    return { path: `${wizard(shop)}/generate-prd`, body: { sessionId, feedback: 'shorter' } };
  },
  generatePlan: async (shop) => ({
    path: `${wizard(shop)}/generate-plan`,
    body: { sessionId: await shop.newSession(['prd']) },
  }),
  generateTasks: async (shop) => ({
    path: `${wizard(shop)}/generate-tasks`,
    body: { sessionId: await shop.newSession(['prd', 'plan']) },
  }),
  createPlannedSprint: (shop) => ({
    path: `${wizard(shop)}/create-sprint`,
    body: { name: 'S', tasks: [{ title: 't' }] },
  }),
  editWizard: async (shop) => {
    const path = `${wizard(shop)}/${await shop.newSession(['prd'])}`;
    const { updatedAt } = await shop.ask<{ updatedAt: string }>('GET', path);
    return { path, body: { prd: { title: 'Greeting', markdown: 'Greet everybody.' }, updatedAt } };
  },
  deleteWizard: async (shop) => ({ path: `${wizard(shop)}/${await shop.newSession()}` }),
  finalizeWizard: async (shop) => ({
    path: `${wizard(shop)}/${await shop.newSession(['prd', 'plan', 'tasks'])}/finalize`,
  }),
};

const wizard = ({ project }: Workshop) => `/projects/${project}/wizard`;

const nightly = (owner: string, repositoryId: string) => ({
  ...{ name: 'Nightly', on: { cron: '0 3 * * *', timezone: 'UTC' } },
  task: { title: 'Update dependencies', owner, repositoryId },
});

/** Returns the path of a new automation. */
async function automationPath({ project, agent, repository, ask }: Workshop): Promise<string> {
  const path = `/projects/${project}/automations`;
  return `${path}/${(await ask('POST', path, nightly(agent, repository))).id}`;
}

async function memberPath({ project, ask }: Workshop, login: string): Promise<string> {
  const path = `/projects/${project}/members`;
  const { userId } = await ask<{ userId: string }>('POST', path, { login, role: 'member' });
  return `${path}/${userId}`;
}

const newWebhook = { url: 'https://hooks.example.com/deckhand', events: ['task.status'] };

async function webhookPath({ project, ask }: Workshop): Promise<string> {
  const path = `/projects/${project}/webhooks`;
  const { id } = await ask('POST', path, newWebhook);
  return `${path}/${id}`;
}

/** Returns the path of the first agent of a new project. */
async function agentPath({ newProject }: Workshop): Promise<string> {
  return `/agents/${(await newProject()).agent}`;
}
