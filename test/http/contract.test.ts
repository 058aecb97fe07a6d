import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startModel } from '../../demo/model/model.ts';
import { openapiDocument } from '../../src/http/documents/openapi.ts';
import { routes } from '../../src/routes.ts';
import { openTestApp } from '../support/app.ts';
import { planner } from '../support/stand-ins/planner.ts';

/** Every operation of the interface document, with its success code. */
const contract = `
POST /projects/:projectId/tasks 201
POST /projects/:projectId/tasks/bulk 201
GET /projects/:projectId/tasks 200
GET /projects/:projectId/stats 200
GET /tasks/:id 200
PATCH /tasks/:id 200
DELETE /tasks/:id 204
POST /tasks/:id/start 200
POST /tasks/:id/retry 200
POST /tasks/:id/cancel 200
POST /tasks/:id/merge 200
POST /tasks/:id/chat 200
GET /tasks/:id/diff 200
GET /tasks/:id/handoffs 200
GET /tasks/:id/prs 200
GET /tasks/:id/subtasks 200
POST /tasks/:id/subtasks 201
POST /repositories 201
GET /repositories 200
GET /repositories/:id 200
PATCH /repositories/:id 200
DELETE /repositories/:id 204
GET /repositories/primary/:projectId 200
GET /repositories/docs/:projectId 200
POST /repositories/:id/validate 200
GET /agents 200
POST /agents 201
GET /agents/:id 200
PATCH /agents/:id 200
DELETE /agents/:id 204
GET /agents/teams 200
GET /agents/teams/:team 200
GET /agents/health/all 200
GET /agents/health/unhealthy 200
GET /agents/:id/health 200
POST /agents/:id/health/reset 200
GET /agents/:id/performance 200
GET /agents/:id/skills 200
GET /agents/:id/suggestions 200
POST /agents/:id/evolve 201
POST /agents/pool/reconcile 200
GET /agents/pool/reconciliations 200
POST /projects/:projectId/sprints 201
GET /projects/:projectId/sprints 200
GET /projects/:projectId/sprints/active 200
GET /sprints/:sprintId 200
PATCH /sprints/:sprintId 200
DELETE /sprints/:sprintId 204
POST /sprints/:sprintId/start 200
POST /sprints/:sprintId/complete 200
GET /sprints/:sprintId/tasks 200
POST /sprints/:sprintId/tasks 200
POST /sprints/:sprintId/tasks/bulk 200
DELETE /sprints/:sprintId/tasks/:taskId 204
GET /sprints/:sprintId/metrics 200
GET /sprints/:sprintId/burndown 200
GET /projects/:projectId/velocity 200
GET /projects/:projectId/backlog 200
POST /sprints/:sprintId/chat-with-dev-lead 200
POST /projects/:projectId/wizard/initialize 201
POST /projects/:projectId/wizard/:sessionId/answer 200
GET /projects/:projectId/wizard/:sessionId 200
POST /projects/:projectId/wizard/generate-prd 200
POST /projects/:projectId/wizard/generate-plan 200
POST /projects/:projectId/wizard/generate-tasks 200
POST /projects/:projectId/wizard/create-sprint 201
POST /projects/:projectId/wizard/:sessionId/finalize 201
POST /projects/:projectId/git-token 200
POST /projects/:projectId/model-token 200
`;

const rows = contract.trim().split('\n');
const served = new Set(routes.map((r) => `${r.method.toUpperCase()} ${r.path} ${r.reply[0]}`));
const document = openapiDocument(routes, 'http://localhost:3000') as {
  paths: Record<string, Record<string, { responses: Record<string, unknown>; summary: string }>>;
};

test('the contract has 69 operations', () => {
  expect(rows).toHaveLength(69);
});

test.each(rows)('%s is served and documented', (row) => {
  expect(served).toContain(row);
  const [method = '', path = '', code = ''] = row.split(' ');
  const operation = document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
  expect(operation?.summary).toEqual(expect.any(String));
  expect(Object.keys(operation?.responses ?? {})).toEqual(expect.arrayContaining([code, '400', '401']));
});

/** Starts a stand-in for GitHub's API with one repository and one pull request, which can be merged. */
async function smallGitHub() {
  let isMerged = false;
  const server = createServer((req, res) => {
    if (req.method === 'PUT') {
      isMerged = true;
      const merge = { sha: 'd'.repeat(40), merged: true, message: 'Pull Request successfully merged' };
      return void res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(merge));
    }
    const head = { sha: 'c'.repeat(40), ref: 'agent/x' };
    const base = { sha: 'b'.repeat(40), ref: 'main' };
    const pull = {
      state: isMerged ? 'closed' : 'open',
      merged: isMerged,
      merged_at: isMerged ? '2026-01-01T00:00:00Z' : null,
    };
    const body = /\/pulls\/1/.test(req.url ?? '') ? { ...pull, head, base, additions: 1 } : { id: 1, private: false };
    res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('every row replies with its success code', async () => {
  const github = await smallGitHub();
  const model = await startModel(planner);
  const service = await openTestApp({
    GITHUB_API_URL: github.url,
    GITHUB_SERVER_URL: github.url,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'sk-x',
    OPENAI_MODEL: 'm',
  });
  try {
    const token = await service.token('owner');
    const ids: Record<string, string> = {};
    const seen = new Set<string>();
    /** Calls an operation by its row in the contract; `{name}` in the address is the id from an earlier reply. */
    const call = async (row: string, address: string, body?: object) => {
      const [method = '', , code = ''] = row.split(' ');
      const path = address.replace(/\{(\w+)\}/g, (_all, name: string) => ids[name] ?? '');
      const answer = await service.call(method, path, { token, ...(body === undefined ? {} : { body }) });
      expect([row, answer.status, answer.status > 299 ? answer.body.message : '']).toEqual([row, Number(code), '']);
      seen.add(row);
      return answer.body;
    };
    ids.project = (await service.call('POST', '/projects', { token, body: { name: 'P' } })).body.id;
    await call('POST /projects/:projectId/git-token 200', '/projects/{project}/git-token', { token: 'ghp_x' });
    await call('POST /projects/:projectId/model-token 200', '/projects/{project}/model-token', { token: 'sk-y' });
    const repository = { projectId: ids.project, name: 'r', url: `${github.url}/a/r`, isDocsRepo: true };
    ids.repository = (await call('POST /repositories 201', '/repositories', repository)).id;
    await call('GET /repositories 200', '/repositories?projectId={project}');
    await call('GET /repositories/:id 200', '/repositories/{repository}');
    await call('PATCH /repositories/:id 200', '/repositories/{repository}', { defaultBranch: 'main' });
    await call('GET /repositories/primary/:projectId 200', '/repositories/primary/{project}');
    await call('GET /repositories/docs/:projectId 200', '/repositories/docs/{project}');
    await call('POST /repositories/:id/validate 200', '/repositories/{repository}/validate');
    ids.agent = (await call('POST /agents 201', '/agents', { name: 'mine', team: 'own' })).id;
    await call('GET /agents 200', '/agents');
    await call('GET /agents/teams 200', '/agents/teams');
    await call('GET /agents/teams/:team 200', '/agents/teams/own');
    await call('GET /agents/health/all 200', '/agents/health/all');
    await call('GET /agents/health/unhealthy 200', '/agents/health/unhealthy');
    await call('POST /agents/pool/reconcile 200', '/agents/pool/reconcile');
    await call('GET /agents/pool/reconciliations 200', '/agents/pool/reconciliations');
    await call('GET /agents/:id 200', '/agents/{agent}');
    await call('PATCH /agents/:id 200', '/agents/{agent}', { description: 'x' });
    for (const figure of ['health', 'performance', 'skills', 'suggestions'])
      await call(`GET /agents/:id/${figure} 200`, `/agents/{agent}/${figure}`);
    await call('POST /agents/:id/health/reset 200', '/agents/{agent}/health/reset');
    const task = { title: 't', owner: ids.agent };
    ids.task = (await call('POST /projects/:projectId/tasks 201', '/projects/{project}/tasks', task)).id;
    await call('POST /projects/:projectId/tasks/bulk 201', '/projects/{project}/tasks/bulk', {
      tasks: [{ title: 'b' }],
    });
    await call('GET /projects/:projectId/tasks 200', '/projects/{project}/tasks');
    await call('GET /projects/:projectId/stats 200', '/projects/{project}/stats');
    await call('GET /tasks/:id 200', '/tasks/{task}');
    await call('PATCH /tasks/:id 200', '/tasks/{task}', { title: 'u' });
    expect((await call('POST /tasks/:id/start 200', '/tasks/{task}/start')).status).toBe('in_progress');
    expect((await call('POST /tasks/:id/cancel 200', '/tasks/{task}/cancel')).status).toBe('ready');
    expect((await call('POST /tasks/:id/retry 200', '/tasks/{task}/retry')).status).toBe('in_progress');
    await service.call('POST', `/tasks/${ids.task}/cancel`, { token });
    await service.app.db.manager.query(
      `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
       values ($1, $2, 1, $3, 'open', 'agent/x', $4)`,
      [ids.task, ids.repository, `${github.url}/a/r/pull/1`, 'c'.repeat(40)],
    );
    expect((await call('POST /tasks/:id/merge 200', '/tasks/{task}/merge')).status).toBe('done');
    for (const part of ['diff', 'handoffs', 'prs', 'subtasks'])
      await call(`GET /tasks/:id/${part} 200`, `/tasks/{task}/${part}`);
    await call('POST /tasks/:id/chat 200', '/tasks/{task}/chat', { message: 'What is missing?' });
    ids.parent = (
      await service.call('POST', `/projects/${ids.project}/tasks`, { token, body: { title: 'p' } })
    ).body.id;
    await call('POST /tasks/:id/subtasks 201', '/tasks/{parent}/subtasks', { title: 's' });
    await call('DELETE /tasks/:id 204', '/tasks/{parent}');
    const sprint = { name: 'S', startDate: '2026-01-01', endDate: '2026-01-14' };
    ids.sprint = (await call('POST /projects/:projectId/sprints 201', '/projects/{project}/sprints', sprint)).id;
    await call('GET /projects/:projectId/sprints 200', '/projects/{project}/sprints');
    await call('GET /projects/:projectId/sprints/active 200', '/projects/{project}/sprints/active');
    await call('PATCH /sprints/:sprintId 200', '/sprints/{sprint}', { goal: 'g' });
    await call('POST /sprints/:sprintId/tasks 200', '/sprints/{sprint}/tasks', { taskId: ids.task });
    await call('POST /sprints/:sprintId/tasks/bulk 200', '/sprints/{sprint}/tasks/bulk', { taskIds: [ids.task] });
    await call('POST /sprints/:sprintId/start 200', '/sprints/{sprint}/start');
    for (const part of ['', '/tasks', '/metrics', '/burndown'])
      await call(`GET /sprints/:sprintId${part} 200`, `/sprints/{sprint}${part}`);
    const message = { message: 'How far are we?' };
    await call('POST /sprints/:sprintId/chat-with-dev-lead 200', '/sprints/{sprint}/chat-with-dev-lead', message);
    await call('DELETE /sprints/:sprintId/tasks/:taskId 204', '/sprints/{sprint}/tasks/{task}');
    await call('POST /sprints/:sprintId/complete 200', '/sprints/{sprint}/complete');
    await call('GET /projects/:projectId/velocity 200', '/projects/{project}/velocity');
    await call('GET /projects/:projectId/backlog 200', '/projects/{project}/backlog');
    await call('DELETE /sprints/:sprintId 204', '/sprints/{sprint}');
    const wizard = '/projects/{project}/wizard';
    const plan = async (what: string, body: object) =>
      call(
        `POST /projects/:projectId/wizard/${what} ${what === 'initialize' || what === 'create-sprint' ? 201 : 200}`,
        `${wizard}/${what}`,
        body,
      );
    const session = await plan('initialize', { repositoryId: ids.repository, goal: 'Greet everybody' });
    ids.session = session.sessionId;
    let step = session.currentStep;
    while (step !== null) {
      const answer = { stepId: step.id, selectedOptionIds: [step.options[0].id], customText: 'as said' };
      const row = 'POST /projects/:projectId/wizard/:sessionId/answer 200';
      step = (await call(row, `${wizard}/{session}/answer`, { answer })).currentStep;
    }
    await call('GET /projects/:projectId/wizard/:sessionId 200', `${wizard}/{session}`);
    for (const part of ['prd', 'plan', 'tasks']) await plan(`generate-${part}`, {});
    await call('POST /projects/:projectId/wizard/:sessionId/finalize 201', `${wizard}/{session}/finalize`);
    await plan('create-sprint', { name: 'S', goal: 'g', tasks: [{ title: 't', description: 'd' }] });
    ids.evolved = (await call('POST /agents/:id/evolve 201', '/agents/{agent}/evolve', { improvements: ['x'] })).id;
    await call('DELETE /agents/:id 204', '/agents/{evolved}');
    await call('DELETE /repositories/:id 204', '/repositories/{repository}');
    expect([...seen].sort()).toEqual([...rows].sort());
  } finally {
    await service.close();
    await model.close();
    github.server.close();
    github.server.closeAllConnections();
  }
});
