import { lockUntilCommit } from '../../../src/db/locks.ts';
import { openSuggestions, type Shown, worded } from './suggesting.ts';

const { given, talk, model, em, call, newAgent, fail, suggestionsOf, work } = await openSuggestions();

test('readers get standard sentences at once, and together they cause one request for the same evidence', async () => {
  const agent = await newAgent();
  await fail(agent, 'gave_up', 'It is unclear what to do');
  talk.says = worded;
  const before = model.requests.length;
  const shown: Shown[][] = await Promise.all(Array.from({ length: 5 }, () => suggestionsOf(agent)));
  expect(shown.map(([first]) => first?.area)).toEqual(Array(5).fill('task description'));
  expect(model.requests.length).toBe(before);
  expect(await work()).toBe(1);
  expect(model.requests.length).toBe(before + 1);
  expect((await suggestionsOf(agent))[0].area).toBe('about g1');
});

test('a viewer and a token that only reads get the sentences, but ask no model', async () => {
  const agent = given.agentIds[0] as string;
  await fail(agent, 'gave_up', 'It is unclear what to do');
  talk.says = worded;
  const before = model.requests.length;
  const watcher = await given.service.token('watcher');
  const members = `/projects/${given.projectId}/members`;
  expect((await call('POST', members, { login: 'watcher', role: 'viewer' })).status).toBe(201);
  const reader = (await call('POST', '/me/tokens', { name: 'reads', scopes: 'read' })).body.token;
  for (const token of [watcher, reader]) {
    const { status, body } = await call('GET', `/agents/${agent}/suggestions`, undefined, token);
    expect([status, body.suggestions.length, body.wording]).toEqual([200, 1, undefined]);
    await work();
  }
  expect(model.requests.length).toBe(before);
});

test('`wording` is true until the model has answered or failed, at most ten minutes', async () => {
  const agent = await newAgent();
  await fail(agent, 'gave_up', 'It is unclear what to do');
  const isWording = async () => (await call('GET', `/agents/${agent}/suggestions`)).body.wording;
  const age = (minutes: number) =>
    em().query(`update agent_suggestions set made_at = now() - make_interval(mins => $2) where agent_id = $1`, [
      agent,
      minutes,
    ]);
  talk.says = () => 'Sorry.';
  expect([await isWording(), await isWording()]).toEqual([true, true]);
  await work();
  expect(await isWording()).toBeUndefined();
  await age(11);
  // It is asked again, and this time its job is lost.
  expect(await isWording()).toBe(true);
  await em().query(`delete from pgboss.job where name = 'suggestions'`);
  await age(9);
  expect(await isWording()).toBe(true);
  await age(11);
  talk.says = worded;
  expect(await isWording()).toBe(true);
  await work();
  expect(await isWording()).toBeUndefined();
});

test('a model is asked about all versions of an agent at most three times in ten minutes', async () => {
  let agent = await newAgent();
  talk.says = () => 'Sorry.';
  for (let i = 0; i < 5; i++) {
    await fail(agent, 'gave_up', `It is unclear what to do ${'again '.repeat(i)}`);
    agent = (await call('POST', `/agents/${agent}/evolve`, { newSystemPrompt: `Prompt ${i}` })).body.id;
    await Promise.all([suggestionsOf(agent), suggestionsOf(agent, '?version=1')]);
  }
  expect(await work()).toBe(3);
  await em().query(`update agent_suggestions set made_at = now() - interval '1 hour'`);
  await suggestionsOf(agent);
  expect(await work()).toBe(1);
});

test('while a model is being asked, or may not be, reading takes no lock', async () => {
  const agent = await newAgent();
  await fail(agent, 'gave_up', 'It is unclear what to do');
  talk.says = () => 'Sorry.';
  const isWording = async () => (await call('GET', `/agents/${agent}/suggestions`)).body.wording;
  expect(await isWording()).toBe(true);
  const whileLocked = await em().transaction(async (tx) => {
    await lockUntilCommit(tx, 'suggestions', agent);
    return isWording();
  });
  expect(whileLocked).toBe(true);
});
