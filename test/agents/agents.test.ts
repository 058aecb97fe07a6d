import { openTeam } from './team.ts';

const { as, worked, project } = await openTeam();

test("a person's agent: created, changed only by its creator, unique by name, deleted", async () => {
  const made = await as('member', 'POST', '/agents', { name: 'Mine', team: ' b ' });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({
    name: 'Mine',
    team: 'b',
    model: 'shipped-model',
    description: '',
    systemPrompt: '',
    projectId: null,
    status: 'available',
    currentTaskId: null,
    version: 1,
  });
  const path = `/agents/${made.body.id}`;
  expect((await as('member', 'POST', '/agents', { name: 'MINE' })).status).toBe(409);
  expect((await as('owner', 'GET', path)).status).toBe(404);
  await as('member', 'POST', `/projects/${project}/tasks`, { title: 't', owner: made.body.id });
  expect((await as('owner', 'GET', path)).status).toBe(200);
  expect((await as('owner', 'PATCH', path, { name: 'Yours' })).body).toEqual({
    statusCode: 403,
    message: `Only the creator may change agent ${made.body.id}`,
  });
  expect((await as('member', 'PATCH', path, { model: 'other', systemPrompt: 'p' })).body).toMatchObject({
    model: 'other',
    systemPrompt: 'p',
    name: 'Mine',
  });
  expect((await as('member', 'PATCH', path, {})).status).toBe(200);
  expect((await as('member', 'DELETE', path)).status).toBe(204);
  expect((await as('member', 'GET', path)).status).toBe(404);
});

test('the model of an agent has an effort and a length, and a new version keeps them', async () => {
  const made = await as('member', 'POST', '/agents', {
    name: 'Thinker',
    reasoningEffort: 'xhigh',
    maxOutputTokens: 256,
  });
  expect([made.status, made.body.reasoningEffort, made.body.maxOutputTokens]).toEqual([201, 'xhigh', 256]);
  const path = `/agents/${made.body.id}`;
  const evolved = (await as('member', 'POST', `${path}/evolve`, { newSystemPrompt: 'p' })).body;
  expect(evolved).toMatchObject({ reasoningEffort: 'xhigh', maxOutputTokens: 256 });
  const change = async (body: object) => (await as('member', 'PATCH', `/agents/${evolved.id}`, body)).body;
  expect(await change({ maxOutputTokens: 200_000 })).toMatchObject({
    reasoningEffort: 'xhigh',
    maxOutputTokens: 200_000,
  });
  expect(await change({ reasoningEffort: null, maxOutputTokens: null })).toMatchObject({
    reasoningEffort: null,
    maxOutputTokens: null,
  });
  expect((await as('member', 'GET', `/agents/${evolved.id}`)).body).toMatchObject({ reasoningEffort: null });
  for (const wrong of [
    { reasoningEffort: 'max' },
    { maxOutputTokens: 255 },
    { maxOutputTokens: 200_001 },
    { maxOutputTokens: 300.5 },
  ])
    expect((await as('member', 'PATCH', `/agents/${evolved.id}`, wrong)).status).toBe(400);
  const plain = (await as('member', 'POST', '/agents', { name: 'Plain' })).body;
  expect([plain.reasoningEffort, plain.maxOutputTokens]).toEqual([null, null]);
  for (const id of [evolved.id, plain.id]) await as('member', 'DELETE', `/agents/${id}`);
});

test('entries of the list say to which project an agent belongs', async () => {
  const own = (await as('owner', 'POST', '/agents', { name: 'Personal' })).body.id;
  const entries: { id: string; projectId: string | null }[] = (await as('owner', 'GET', '/agents')).body;
  expect(new Set(entries.map((entry) => entry.projectId))).toEqual(new Set([project, null]));
  expect(entries.find((entry) => entry.id === own)?.projectId).toBeNull();
  await as('owner', 'DELETE', `/agents/${own}`);
});

test('admins change the agents of their project', async () => {
  const [agent] = (await as('member', 'GET', '/agents')).body;
  expect((await as('member', 'PATCH', `/agents/${agent.id}`, { team: 'x' })).body.message).toBe(
    'Requires the admin role',
  );
  expect((await as('owner', 'PATCH', `/agents/${agent.id}`, { description: 'x' })).status).toBe(200);
  expect((await as('owner', 'PATCH', `/agents/${agent.id}`, { name: 'reviewer' })).status).toBe(409);
  expect((await as('stranger', 'GET', `/agents/${agent.id}`)).status).toBe(404);
});

test('teams are listed with their agents', async () => {
  await as('owner', 'POST', '/agents', { name: 'Ops', team: 'infra' });
  expect((await as('owner', 'GET', '/agents/teams')).body).toEqual(['core', 'infra']);
  expect((await as('owner', 'GET', '/agents/teams/infra')).body.map((a: { name: string }) => a.name)).toEqual(['Ops']);
  expect((await as('owner', 'GET', '/agents/teams/none')).body).toEqual([]);
});

test('evolving creates a version; open tasks move to it, running ones when their run ends, and the old version stays readable', async () => {
  const old = (await as('owner', 'POST', '/agents', { name: 'Growing', systemPrompt: 'Be good.' })).body;
  const open = (await as('owner', 'POST', `/projects/${project}/tasks`, { title: 't', owner: old.id })).body.id;
  const done = await worked(old.id, 'succeeded', { task: 'done' });
  const running = await worked(old.id, 'running', { task: 'in_progress' });
  expect((await as('owner', 'POST', `/agents/${old.id}/evolve`, {})).status).toBe(400);
  expect((await as('stranger', 'POST', `/agents/${old.id}/evolve`, { newSystemPrompt: 'x' })).status).toBe(404);
  const made = await as('owner', 'POST', `/agents/${old.id}/evolve`, { improvements: ['Test first.', 'Be brief.'] });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({
    name: 'Growing',
    version: 2,
    previousVersionId: old.id,
    systemPrompt: 'Be good.\n\nImprovements:\n- Test first.\n- Be brief.',
  });
  const ownerOf = async (task: string) => (await as('owner', 'GET', `/tasks/${task}`)).body.owner;
  expect([await ownerOf(open), await ownerOf(done), await ownerOf(running)]).toEqual([made.body.id, old.id, old.id]);
  expect((await as('owner', 'GET', `/agents/${old.id}`)).body).toMatchObject({ version: 1, status: 'busy' });
  expect((await as('owner', 'POST', `/agents/${old.id}/evolve`, { newSystemPrompt: 'x' })).status).toBe(409);
  expect((await as('owner', 'POST', `/projects/${project}/tasks`, { title: 't', owner: old.id })).status).toBe(400);
  expect((await as('owner', 'POST', `/tasks/${running}/cancel`)).status).toBe(200);
  expect(await ownerOf(running)).toBe(made.body.id);
  expect((await as('owner', 'GET', `/agents/${old.id}`)).body.status).toBe('offline');
  const names = (await as('owner', 'GET', '/agents')).body.filter((a: { name: string }) => a.name === 'Growing');
  expect(names.map((a: { id: string }) => a.id)).toEqual([made.body.id]);
  expect((await as('owner', 'DELETE', `/agents/${made.body.id}`)).status).toBe(204);
  expect(await ownerOf(open)).toBeNull();
});
