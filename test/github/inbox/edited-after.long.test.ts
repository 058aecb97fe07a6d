import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../../../demo/real-service.ts';
import { webhookUrl } from '../../../src/github/app/manifest.ts';
import { openWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld([[{ name: 'finish', arguments: { summary: 'Nothing to do.', nextSteps: [] } }]], {
    seed: { isOrganization: true, isPrivate: true, people: ['mona', 'stranger'] },
    settings: { SANDBOX: 'off' },
  });
});
afterAll(() => world.close());

const repo = '/repos/acme/sample';
const comment = (login: string, number: number, body: string) =>
  world.github.as(login)<{ id: number }>('POST', `${repo}/issues/${number}/comments`, { body });
const tasks = () =>
  world.get<{ id: string; title: string; owner: string; status: string }[]>(`/projects/${world.project.id}/tasks`);

// What the author of an issue makes of it after somebody has asked for its text to be done, also if the events are lost.

/**
 * Opens an issue as a person who may only read; `ask` then gives an order, and the person edits the issue after it. The
 * events are lost. GitHub believes that they arrived, so it does not send them again by itself.
 */
async function editedAfter(title: string, ask: (number: number) => Promise<unknown>): Promise<number> {
  await world.github.as('mona')('PUT', `${repo}/collaborators/stranger`, { permission: 'pull' });
  const stranger = world.github.as('stranger');
  const { number } = await stranger<{ number: number }>('POST', `${repo}/issues`, { title, body: 'harmless' });
  await withoutEvents(async () => {
    await ask(number);
    await stranger('PATCH', `${repo}/issues/${number}`, { title: `${title} evil`, body: 'evil' });
    await until('the lost event', async () =>
      world.github.deliveries.some(
        ({ body, status }) => status === 202 && body.includes('"action":"edited"') && body.includes(`${title} evil`),
      ),
    );
  });
  return number;
}

/** Does something while all events are lost. */
async function withoutEvents(act: () => Promise<void>): Promise<void> {
  const sink = createServer((_, res) => res.writeHead(202).end());
  await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve));
  world.github.deliverTo(`http://127.0.0.1:${(sink.address() as AddressInfo).port}/`);
  try {
    await act();
  } finally {
    world.github.deliverTo(webhookUrl(world.settings.BASE_URL ?? ''));
    sink.close();
    sink.closeAllConnections();
  }
}
const addLabel = (number: number) =>
  world.github.as('mona')('POST', `${repo}/issues/${number}/labels`, { labels: ['agent:run'] });

test('the label agent:run starts the text that the issue had then, whatever its author makes of it afterwards', async () => {
  await editedAfter('Labelled', addLabel);
  const missed = world.github.deliveries.find(({ event, body }) => {
    const { action, label, issue } = JSON.parse(body);
    return event === 'issues' && action === 'labeled' && label.name === 'agent:run' && issue.title === 'Labelled';
  });
  await world.github.redeliver(missed?.guid ?? '');
  const task = await until('the task', async () => (await tasks()).find((t) => t.title.startsWith('Labelled')));
  expect(await world.get(`/tasks/${task.id}`)).toMatchObject({ title: 'Labelled', description: 'harmless' });
});

test('the label agent:run does not start a task that says something else than its issue', async () => {
  await world.github.as('mona')('PUT', `${repo}/collaborators/stranger`, { permission: 'pull' });
  const stranger = world.github.as('stranger');
  const title = 'Not what it says';
  const { number } = await stranger<{ number: number }>('POST', `${repo}/issues`, { title, body: 'evil' });
  await comment('mona', number, '/agent create');
  const task = () => until('the task', async () => (await tasks()).find((t) => t.title === title));
  await task();
  const edit = (body: string) => stranger('PATCH', `${repo}/issues/${number}`, { body });
  const refused = (start: string) =>
    until('the refusal', async () => (await world.comments(number)).some(({ body }) => body.includes(start)));
  await edit('harmless');
  await addLabel(number);
  await refused('The issue and its task differ');
  expect((await task()).status).toBe('backlog');
  await until('the label removed', async () => !(await world.labels(number)).includes('agent:run'));
  await withoutEvents(async () => {
    await addLabel(number);
    await edit('evil');
  });
  await world.service.api(world.token, 'POST', '/agents/pool/reconcile');
  await refused('The issue was edited after the label was added');
  expect((await task()).status).toBe('backlog');
  await edit('harmless');
  await comment('mona', number, '/agent update');
  await until(
    'the new text',
    async () => (await world.get<{ description: string }>(`/tasks/${(await task()).id}`)).description === 'harmless',
  );
  await addLabel(number);
  await until('the run', async () => (await task()).status === 'done');
});

test('after a lost event, a label or a command does not start text that was edited since then', async () => {
  const orders = {
    'Lost label': addLabel,
    'Lost command': (number: number) => comment('mona', number, '/agent start'),
  };
  for (const [title, order] of Object.entries(orders)) {
    const number = await editedAfter(title, order);
    await world.service.api(world.token, 'POST', '/agents/pool/reconcile');
    await until('the refusal', async () =>
      (await world.comments(number)).some(({ body }) => body.includes('The issue was edited after the ')),
    );
    expect((await tasks()).some((t) => t.title.startsWith(title))).toBe(false);
    expect(await world.labels(number)).toEqual([]);
  }
});

test('after a lost event, a command in the text of an issue counts although people have commented since', async () => {
  const mona = world.github.as('mona');
  await withoutEvents(async () => {
    const issue = { title: 'Lost and commented', body: 'please\n/agent create' };
    const { number } = await mona<{ number: number }>('POST', `${repo}/issues`, issue);
    await until('an update a while later', async () => {
      await comment('mona', number, 'me too');
      const seen = await mona<{ created_at: string; updated_at: string }>('GET', `${repo}/issues/${number}`);
      return Date.parse(seen.updated_at) - Date.parse(seen.created_at) > 1000;
    });
  });
  await world.service.api(world.token, 'POST', '/agents/pool/reconcile');
  await until('the task', async () => (await tasks()).some(({ title }) => title === 'Lost and commented'));
});

test('after a lost event, a command counts unless it was written into the comment later, be it in the same second', async () => {
  const mona = world.github.as('mona');
  const open = async (title: string) =>
    (await mona<{ number: number }>('POST', `${repo}/issues`, { title, body: 'please' })).number;
  const [edited, plain] = [await open('Edited later'), await open('Written so')];
  await withoutEvents(async () => {
    const { id } = await mona<{ id: number }>('POST', `${repo}/issues/${edited}/comments`, { body: 'thanks' });
    await mona('PATCH', `${repo}/issues/comments/${id}`, { body: '/agent create' });
    await comment('mona', plain, '/agent create');
  });
  await world.service.api(world.token, 'POST', '/agents/pool/reconcile');
  await until('the later command', async () => (await tasks()).some(({ title }) => title === 'Written so'));
  expect((await tasks()).some(({ title }) => title === 'Edited later')).toBe(false);
});
