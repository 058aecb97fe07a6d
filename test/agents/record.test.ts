import { openTeam } from './team.ts';

const { as, sql, worked, project } = await openTeam();

test('health counts consecutive failures caused by the agent, and can be reset', async () => {
  const { id } = (await as('owner', 'POST', '/agents', { name: 'Sick' })).body;
  const health = async () => (await as('owner', 'GET', `/agents/${id}/health`)).body;
  const fresh = await health();
  expect(fresh).toEqual({
    agentId: id,
    status: 'healthy',
    lastHeartbeat: expect.any(String),
    consecutiveFailures: 0,
    totalTasks: 0,
    successRate: 0,
  });
  for (const category of ['auth', 'rate_limit', 'repository', 'model']) await worked(id, 'failed', { category });
  expect(await health()).toMatchObject({ status: 'degraded', consecutiveFailures: 1, totalTasks: 4 });
  for (const category of ['model', 'budget']) await worked(id, 'failed', { category });
  expect(await health()).toMatchObject({ status: 'unhealthy', consecutiveFailures: 3 });
  expect(
    (await as('owner', 'GET', '/agents/health/unhealthy')).body.map((h: { agentId: string }) => h.agentId),
  ).toEqual([id]);
  expect((await as('owner', 'GET', '/agents/health/all')).body.length).toBeGreaterThan(5);
  expect((await as('owner', 'POST', `/agents/${id}/health/reset`)).body).toMatchObject({
    status: 'healthy',
    consecutiveFailures: 0,
  });
  await worked(id, 'failed', { category: 'model' });
  expect((await health()).consecutiveFailures).toBe(1);
  await worked(id, 'succeeded', { task: 'done' });
  expect(await health()).toMatchObject({ status: 'healthy', consecutiveFailures: 0 });
});

test('performance, skills and suggestions are computed from recorded runs', async () => {
  const { id } = (await as('owner', 'POST', '/agents', { name: 'Worker' })).body;
  const none = (await as('owner', 'GET', `/agents/${id}/performance`)).body;
  expect(none).toEqual({
    agentId: id,
    metrics: {
      totalTasks: 0,
      completedTasks: 0,
      failedTasks: 0,
      averageCompletionTime: '0h 0m',
      successRate: 0,
      linesOfCodeWritten: 0,
      prsCreated: 0,
    },
  });
  await as('owner', 'POST', '/repositories', { projectId: project, name: 'r', url: 'https://github.com/o/r' });
  for (let i = 0; i < 5; i++) {
    const task = await worked(id, 'succeeded', { task: 'done', minutes: 84 });
    await sql(
      `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha, additions)
       select $1, id, $2, 'u', 'merged', 'b', 's', 10 from repositories where name = 'r'`,
      [task, 100 + i],
    );
    const files = [{ path: 'src/a.ts' }, { path: 'README.md' }, { path: 'Makefile' }];
    await sql(
      `insert into diffs (task_id, branch_name, base_branch, head_sha, files) values ($1, 'b', 'main', 's', $2)`,
      [task, JSON.stringify(files)],
    );
  }
  await worked(id, 'failed', { category: 'gave_up', task: 'ready' });
  await worked(id, 'failed', { category: 'auth', task: 'ready' });
  const { metrics } = (await as('owner', 'GET', `/agents/${id}/performance`)).body;
  expect(metrics).toEqual({
    totalTasks: 7,
    completedTasks: 5,
    failedTasks: 2,
    averageCompletionTime: '1h 24m',
    successRate: 5 / 7,
    linesOfCodeWritten: 50,
    prsCreated: 5,
  });
  const { weeks } = (await as('owner', 'GET', `/agents/${id}/performance?weeks=3`)).body;
  expect(weeks).toHaveLength(3);
  const ended = weeks.map((w: { succeeded: number; failed: number }) => [w.succeeded, w.failed]);
  // Around midnight on a Sunday some of them ended last week.
  const total = ended.reduce(
    ([a, b]: number[], [c, d]: number[]) => [(a ?? 0) + (c ?? 0), (b ?? 0) + (d ?? 0)],
    [0, 0],
  );
  expect([weeks[0], total]).toEqual([
    { week: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), succeeded: 0, failed: 0 },
    [5, 2],
  ]);
  expect((await as('owner', 'GET', `/agents/${id}/performance?weeks=0`)).status).toBe(400);
  const skills = (await as('owner', 'GET', `/agents/${id}/skills`)).body;
  expect(skills).toEqual([
    { id: 'markdown', name: 'Markdown', proficiency: 'intermediate' },
    { id: 'typescript', name: 'TypeScript', proficiency: 'intermediate' },
  ]);
  const { suggestions } = (await as('owner', 'GET', `/agents/${id}/suggestions`)).body;
  expect(suggestions).toEqual([
    {
      area: 'task description',
      suggestion: expect.any(String),
      priority: 'low',
      evidence: [expect.stringMatching(/^run_/)],
      quotes: [expect.objectContaining({ source: 'failure', text: 'm' })],
    },
  ]);
  expect((await as('member', 'GET', `/agents/${id}/performance`)).body.metrics.totalTasks).toBe(7);
});

test('figures belong to all versions of an agent, and `version` selects one', async () => {
  const first = (await as('owner', 'POST', '/agents', { name: 'Grown' })).body.id;
  await worked(first, 'failed', { category: 'checks', task: 'ready' });
  const second = (await as('owner', 'POST', `/agents/${first}/evolve`, { newSystemPrompt: 'Test more.' })).body.id;
  await worked(second, 'succeeded', { task: 'done' });
  const total = async (id: string, query = '') => {
    const { metrics } = (await as('owner', 'GET', `/agents/${id}/performance${query}`)).body;
    return [metrics.totalTasks, metrics.successRate];
  };
  for (const id of [first, second]) {
    expect(await total(id)).toEqual([2, 0.5]);
    expect(await total(id, '?version=1')).toEqual([1, 0]);
    expect(await total(id, '?version=2')).toEqual([1, 1]);
    const health = async (query: string) => (await as('member', 'GET', `/agents/${id}/health${query}`)).body;
    expect(await health('')).toMatchObject({ agentId: id, status: 'healthy', totalTasks: 2 });
    expect(await health('?version=1')).toMatchObject({ agentId: id, status: 'degraded', totalTasks: 1 });
    for (const figures of ['health', 'performance', 'skills', 'suggestions']) {
      const unknown = await as('owner', 'GET', `/agents/${id}/${figures}?version=3`);
      expect([unknown.status, unknown.body.message]).toEqual([404, `Version 3 of agent ${id} not found`]);
      expect((await as('owner', 'GET', `/agents/${id}/${figures}?version=0`)).status).toBe(400);
    }
  }
  const suggestions = async (version: number) =>
    (await as('owner', 'GET', `/agents/${second}/suggestions?version=${version}`)).body.suggestions.length;
  expect([await suggestions(1), await suggestions(2)]).toEqual([1, 0]);
  expect((await as('owner', 'POST', `/agents/${second}/health/reset`)).status).toBe(200);
  expect((await as('owner', 'GET', `/agents/${second}/health?version=1`)).body.status).toBe('healthy');
});

test('reconciling repairs stuck tasks in the caller’s projects only, and reports what it did', async () => {
  const { id } = (await as('owner', 'POST', '/agents', { name: 'Lost' })).body;
  const lost = await worked(id, 'failed', { category: 'internal', task: 'in_progress' });
  const parent = (await as('owner', 'POST', `/projects/${project}/tasks`, { title: 'parent' })).body.id;
  await sql(`update tasks set status = 'waiting_on_subtasks' where id = $1`, [parent]);
  expect((await as('stranger', 'POST', '/agents/pool/reconcile')).body).toMatchObject({ checked: 0, recovered: [] });
  const { body } = await as('owner', 'POST', '/agents/pool/reconcile');
  expect(body).toEqual({
    id: expect.stringMatching(/^recon_/),
    startedAt: expect.any(String),
    finishedAt: expect.any(String),
    trigger: 'manual',
    checked: 2,
    recovered: expect.arrayContaining([
      { taskId: lost, action: 'failed', reason: expect.any(String) },
      { taskId: parent, action: 'joined', reason: expect.any(String) },
    ]),
  });
  expect((await as('owner', 'GET', `/tasks/${lost}`)).body).toMatchObject({
    status: 'ready',
    failure: { category: 'internal' },
  });
  expect((await as('owner', 'POST', '/agents/pool/reconcile')).body.recovered).toEqual([]);
  const history = (await as('owner', 'GET', '/agents/pool/reconciliations')).body;
  expect(history.map((h: { recovered: unknown[] }) => h.recovered.length)).toEqual([0, 2]);
  expect((await as('stranger', 'GET', '/agents/pool/reconciliations')).body).toHaveLength(1);
});
