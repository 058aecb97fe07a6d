import { type ModelRequest, offers } from '../../../demo/model/model.ts';
import { until } from '../../../demo/real-service.ts';
import { gitOut } from '../../support/git.ts';
import { attempt, itemOf, openTrialWorld, promptOf, type TrialReply } from './trial-world.ts';

const skilled = 'You are SKILLED.';
/** Looks for everything of git that an agent could read. */
const look =
  "git for-each-ref; git log --all --oneline; git cat-file --batch-all-objects --batch-check='%(objecttype)' | grep -c commit; ls";

type World = Awaited<ReturnType<typeof openTrialWorld>>;
let world: World;
/** What happens before each answer of the model. */
let before: (request: ModelRequest) => Promise<unknown> = async () => {};
beforeAll(async () => {
  world = await openTrialWorld(
    (request, turn) => {
      const isSolving = promptOf(request).includes(skilled) || itemOf(request) % 2 === 1;
      if (turn === 0) return [{ name: 'run_command', arguments: { command: look } }];
      return attempt(request, turn - 1, isSolving);
    },
    { items: 2, before: (_turn, request) => before(request).then(() => {}) },
  );
});
afterAll(() => world.close());

const refs = () => gitOut(world.github.folderOf('mona/sample'), 'for-each-ref');
const about = () => world.model.requests.filter((request) => itemOf(request) > 0);
const expected = (itemId: string) => (Number(itemId.slice(-1)) % 2 === 1 ? 'solved' : 'unsolved');

let first: TrialReply;

test('a trial tells which items an agent solves, and nothing of it is on GitHub', async () => {
  const was = refs();
  const started = await world.start({ items: 20 });
  expect(started).toMatchObject({ status: 'running', planned: 2, agentId: world.agentId, name: 'Developer' });
  first = await world.ended(started.id);
  expect(first).toMatchObject({ status: 'done', reason: 'Every item was tried.', of: 2, solved: 1 });
  for (const { itemId, result } of first.items) expect([itemId, result]).toEqual([itemId, expected(itemId)]);
  expect(new Set(first.items.map(({ itemId }) => itemId)).size).toBe(2);
  expect(first.costUsd).toBeGreaterThan(0);
  expect(refs()).toBe(was);
  expect(await world.get(`/projects/${world.project.id}/tasks`)).toEqual([]);
  const run = first.items[0]?.runId;
  expect(await world.get(`/runs/${run}`)).toMatchObject({ kind: 'trial', status: 'succeeded' });
  expect(await world.get(`/agents/${world.agentId}/trials`)).toMatchObject([{ id: first.id, of: 2 }]);
});

test('an agent sees neither later commits nor people or other servers', async () => {
  expect(about().some(({ messages }) => messages.some(({ role }) => role === 'tool'))).toBe(true);
  const { commits } = world;
  for (const request of about()) {
    const { base, solution } = commits[itemOf(request) - 1] ?? { base: '', solution: '' };
    const answer = JSON.stringify(request.messages.filter(({ role }) => role === 'tool'));
    if (answer !== '[]') expect(answer).toContain(base.slice(0, 7));
    expect(answer).not.toContain(solution.slice(0, 7));
    expect(answer).not.toMatch(/tags\/later|origin\/main/);
    expect(answer).not.toContain(`${itemOf(request)}.test`);
    for (const tool of ['ask_person', 'open_repository', 'create_subtasks', 'propose_plan'])
      expect(offers(request, tool)).toBe(false);
  }
});

test('the portfolio follows from trials', async () => {
  const portfolio = await world.get<{ cheapest: object; agents: object[] }>(
    `/repositories/${world.repositoryId}/portfolio`,
  );
  expect(portfolio.agents).toMatchObject([{ agentId: world.agentId, model: 'scripted', solved: 1, of: 2 }]);
  expect(portfolio.cheapest).toMatchObject({ agentId: world.agentId });
});

const estimate = () =>
  world.get<{ costUsd: { low: number; high: number } }>(
    `/agents/${world.agentId}/trials/estimate?repositoryId=${world.repositoryId}&items=20`,
  );

test('a new prompt is compared with the old one on the same items, and evolve takes it as evidence', async () => {
  const refused = (body: object) =>
    world.service.api(world.token, 'POST', `/agents/${world.agentId}/evolve`, body).catch((error) => String(error));
  expect(await estimate()).toMatchObject({
    costUsd: null,
    reason: expect.stringContaining('Developer has fewer than 3'),
  });
  const { id } = await world.start({ systemPrompt: skilled });
  expect(await refused({ newSystemPrompt: skilled, trial: id })).toContain('409');
  const trial = await world.ended(id);
  expect(trial).toMatchObject({
    status: 'done',
    solved: 2,
    of: 2,
    against: { agentId: world.agentId, solved: 1, of: 2, pairs: 2, difference: 0.5, pValue: 1, verdict: 'same' },
  });
  const { costUsd, ...known } = await estimate();
  expect(known).toMatchObject({ items: 2, runs: 6, reason: null });
  expect(costUsd.low).toBeLessThanOrEqual(costUsd.high);
  expect(await refused({ newSystemPrompt: 'Another prompt.', trial: id })).toContain('another system prompt');
  const evolved = await world.service.api<{ id: string; version: number }>(
    world.token,
    'POST',
    `/agents/${world.agentId}/evolve`,
    { newSystemPrompt: skilled, trial: id },
  );
  expect(evolved.version).toBe(2);
  const { agents } = await world.get<{ agents: object[] }>(`/repositories/${world.repositoryId}/portfolio`);
  expect(agents).toMatchObject([{ agentId: evolved.id, version: 2, solved: 2, of: 2 }]);
});

test('a cancelled trial stops its run and keeps what it found out', async () => {
  const { promise: isAsked, resolve: asked } = Promise.withResolvers<void>();
  const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>();
  before = async (request) => {
    if (itemOf(request) > 0) asked();
    await goesOn;
  };
  const { id } = await world.start();
  await isAsked;
  const cancel = () => world.service.api<TrialReply>(world.token, 'POST', `/trials/${id}/cancel`);
  expect(await world.start().catch(String)).toContain('409');
  expect(await cancel()).toMatchObject({ status: 'cancelled', of: 0, items: [{ result: 'error' }] });
  before = async () => {};
  goOn();
  expect(await cancel().catch(String)).toContain('409');
  const [item] = (await world.trial(id)).items;
  expect(await world.get(`/runs/${item?.runId}`)).toMatchObject({ status: 'cancelled' });
});

test('a trial ends with its budget, and what that cut short does not count', async () => {
  const { id } = await world.start({ budget: { costUsd: 0.0001 } });
  const trial = await world.ended(id);
  expect(trial).toMatchObject({ status: 'done', reason: 'The budget of $0.0001 is used up.' });
  expect(trial.items.length).toBe(1);
});

test('strangers and ids of others', async () => {
  const ask = (body: object, agentId = world.agentId) => world.start(body, agentId).catch(String);
  expect(await ask({ repositoryId: 'repo_unknown' })).toContain('400');
  expect(await ask({ against: 'agent_unknown' })).toContain('400');
  expect(await ask({}, 'agent_unknown')).toContain('404');
  expect(await ask({ items: 0 })).toContain('items must be a whole number from 1 to 100');
  expect(await ask({ against: world.agentId })).toContain('against must differ');
  expect(await world.trial('trial_unknown').catch(String)).toContain('404');
  await until(
    'no live run',
    async () => (await world.sql(`select 1 from runs where finished_at is null`, [])).length === 0,
  );
});
