import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../../demo/real-service.ts';
import { webhookUrl } from '../../src/github/app/manifest.ts';
import { openWorld, type World } from '../support/world.ts';

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
const reactionsOn = (id: number) =>
  world.github.reactions.filter((r) => r.subject.endsWith(`/comments/${id}`)).map((r) => r.content);

test('the admins of an organisation own its project, with its repository connected', async () => {
  expect(await world.get('/projects')).toMatchObject([{ name: 'acme', role: 'owner' }]);
  expect(await world.get('/repositories')).toMatchObject([
    { name: 'sample', url: `${world.github.url}/acme/sample`, isPrimary: true },
  ]);
});

test('the named agent gets the task; title and text of the issue become those of the task', async () => {
  const number = await world.issue('hello\n/agent start reviewer', { title: 'Look at it', body: 'well' });
  const task = await until('the task done', async () =>
    (await tasks()).find((t) => t.title === 'Look at it' && t.status === 'done'),
  );
  const agents = await world.get<{ id: string; name: string }[]>('/agents');
  expect(agents.find((a) => a.id === task.owner)?.name).toBe('Reviewer');
  await until('done on the issue', async () => (await world.labels(number)).join() === 'agent:done');
});

test('people without write permission get no task; in a private repository they get a reaction', async () => {
  await world.github.as('mona')('PUT', `${repo}/collaborators/stranger`, { permission: 'pull' });
  const number = await world.issue('', { title: 'Not for strangers' });
  const said = await comment('stranger', number, '/agent start');
  await until('the reaction', async () => reactionsOn(said.id).length > 0);
  expect(reactionsOn(said.id)).toEqual(['confused']);
  expect((await tasks()).some((t) => t.title === 'Not for strangers')).toBe(false);
});

test('refusals of unknown verbs and agents and the help share one reply, which is edited', async () => {
  const number = await world.issue('', { title: 'Wrong words' });
  const own = async () => (await world.comments(number)).filter((c) => c.user.login === 'deckhand[bot]');
  const first = await comment('mona', number, '/agent strat');
  await until('the refusal', async () => (await own()).length === 1);
  expect((await own())[0]?.body).toContain('There is no such command');
  await until('the reaction', async () => reactionsOn(first.id).length === 2);
  expect(reactionsOn(first.id)).toEqual(['eyes', 'confused']);
  // `fix` is more like it, but works in pull requests only.
  await comment('mona', number, '/agent fox');
  await until('the other suggestion', async () => !(await own())[0]?.body.includes('Did you mean `start`'));
  expect((await own())[0]?.body).not.toContain('`fix`');
  await comment('mona', number, '/agent start Nobody');
  await until('the next refusal', async () => (await own())[0]?.body.includes('no agent named Nobody'));
  await comment('mona', number, '/agent help');
  await until('the table', async () => (await own())[0]?.body.includes('\n| Command | |\n| --- | --- |\n'));
  // The commands in it are not made harmless, because people copy them.
  expect((await own()).map(({ body }) => body)).toEqual([
    expect.stringContaining('\n| `/agent assign <agent>` | assigns the task to an agent |\n'),
  ]);
  expect((await tasks()).some((t) => t.title === 'Wrong words')).toBe(false);
});

test('a question goes on to the end of its paragraph', async () => {
  const number = await world.issue('', { title: 'Long question' });
  await comment('mona', number, '/agent ask Why\nis it so?\n\nNot this.');
  await until('the question', async () => JSON.stringify(world.model.requests).includes('Why\\nis it so?'));
  expect(JSON.stringify(world.model.requests)).not.toContain('Not this.');
});

test('code, quotes and edits are not commands, and a repeated delivery is not handled again', async () => {
  const number = await world.issue('> /agent start\n```\n/agent start\n```', { title: 'Quoted' });
  const { id } = await comment('mona', number, 'nothing');
  await world.github.as('mona')('PATCH', `${repo}/issues/comments/${id}`, { body: '/agent start' });
  const marker = await world.issue('/agent start', { title: 'Marker' });
  await until('a later command', async () => (await tasks()).some((t) => t.title === 'Marker'));
  expect((await tasks()).some((t) => t.title === 'Quoted')).toBe(false);
  await until('the marker done', async () => (await world.labels(marker)).join() === 'agent:done');
  const runsOf = async () =>
    (await world.get<unknown[]>(`/tasks/${(await tasks()).find((t) => t.title === 'Marker')?.id}/runs`)).length;
  const delivery = world.github.deliveries.find(
    (d) => d.event === 'issue_comment' && d.body.includes('"/agent start"') && d.body.includes('Marker'),
  );
  await replay(delivery?.body ?? '');
  const later = await world.issue('/agent start', { title: 'Later' });
  await until('what came after the replay', async () => (await world.labels(later)).join() === 'agent:done');
  expect(await runsOf()).toBe(1);
});

test('a command in a comment that was deleted in between is not carried out', async () => {
  const number = await world.issue('', { title: 'Taken back' });
  const { id } = await comment('mona', number, 'a word of mona');
  const delivery = await until('the delivery', async () =>
    world.github.deliveries.find((d) => d.event === 'issue_comment' && d.body.includes('a word of mona')),
  );
  await world.github.as('mona')('DELETE', `${repo}/issues/comments/${id}`);
  const guid = await replay(delivery.body.replace('a word of mona', '/agent start'));
  await until('the delivery to be handled', async () => {
    const sql = 'select 1 from deliveries where guid = $1 and handled_at is not null';
    return (await world.sql(sql, [guid])).length === 1;
  });
  expect((await tasks()).some((t) => t.title === 'Taken back')).toBe(false);
});

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

/** Sends a comment's delivery again under a new id, and returns the id. */
async function replay(body: string): Promise<string> {
  const { createHmac, randomUUID } = await import('node:crypto');
  const guid = randomUUID();
  const response = await fetch(`${world.service.url}/api/github/webhooks`, {
    method: 'POST',
    body,
    headers: {
      'Content-Type': 'application/json',
      'X-GitHub-Event': 'issue_comment',
      'X-GitHub-Delivery': guid,
      'X-Hub-Signature-256': `sha256=${createHmac('sha256', world.github.webhookSecret).update(body).digest('hex')}`,
    },
  });
  expect(response.status).toBe(202);
  return guid;
}
