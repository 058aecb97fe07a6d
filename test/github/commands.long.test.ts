import { until } from '../../demo/real-service.ts';
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
