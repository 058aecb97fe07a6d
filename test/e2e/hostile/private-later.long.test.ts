import { until } from '../../../demo/real-service.ts';
import { startMcpServer } from '../../support/stand-ins/mcp-server.ts';
import { openWorld, type World, type WorldTask } from '../../support/world.ts';

// A public repository has the issue of a task that works in another repository, which becomes private.

interface Task extends WorldTask {
  attention: { id: string } | null;
  parentId: string | null;
  issueNumber: number | null;
}
interface Run {
  id: string;
  kind: string;
  status: string;
  failure: { message: string } | null;
}
type Calls = { name: string; arguments: object }[];

let world: World;
/** What the model calls in each turn. */
let turns: Calls[] = [];
beforeAll(async () => {
  world = await openWorld((_request, turn) => turns[Math.min(turn, turns.length - 1)] ?? 'Done.', {
    seed: { more: ['Docs'] },
    settings: { SANDBOX: 'off', ALLOW_PRIVATE_HOSTS: 'true' },
  });
});
afterAll(() => world.close());

const api = <T>(method: string, path: string, body?: object) => world.service.api<T>(world.token, method, path, body);
const call = (name: string, given: object) => [{ name, arguments: given }];
const secret = [call('finish', { summary: 'PRIVATE summary', nextSteps: ['PRIVATE step'] })];
const tasks = () => world.get<Task[]>(`/projects/${world.project.id}/tasks?limit=100`);
const taskWhere = (what: string, is: (task: Task) => boolean) => until(what, async () => (await tasks()).find(is));
const ended = (id: string, count: number) =>
  until('the runs to end', async () => {
    const runs = await world.get<Run[]>(`/tasks/${id}/runs`);
    return runs.length === count && runs.every(({ status }) => ['failed', 'succeeded'].includes(status)) && runs;
  });
const docs = async (isPrivate: boolean) => {
  await world.sql(`update repositories set is_private = $1 where name = 'Docs'`, [isPrivate]);
  return (await world.get<{ id: string; name: string }[]>('/repositories')).find(({ name }) => name === 'Docs')?.id;
};
const shown = async (number: number) => (await world.comments(number)).map(({ body }) => body).join('\n');
const isPublicWhy = expect.stringContaining(
  'the issue of the task is public, but the task works on a private repository',
);

/** Makes Docs private, waits until GitHub no longer shows the question of a run, and answers it. Returns the run once it has ended. */
async function answeredInPrivate(id: string, number: number, question: string | undefined): Promise<Run | undefined> {
  await docs(true);
  await api('PATCH', `/tasks/${id}`, { title: `Shown again: ${number}` });
  await until('it to be hidden', async () => !(await shown(number)).includes('ASKED'));
  await api('POST', `/tasks/${id}/answer`, { id: question, text: 'Yes.' });
  return (await ended(id, 1))[0];
}

test('a split task that was moved to a private repository does not go on', async () => {
  const repositoryId = await docs(true);
  turns = [call('create_subtasks', { subtasks: [{ title: 'Half', description: 'Half of it.' }] })];
  const number = await world.issue('/agent start', { title: 'Large' });
  const { id } = await taskWhere('the split', (t) => t.issueNumber === number && t.status === 'waiting_on_subtasks');
  turns = secret;
  await api('PATCH', `/tasks/${id}`, { repositoryId });
  const half = await taskWhere('the subtask', (t) => t.parentId === id);
  await ended(half.id, 1);
  await api('PATCH', `/tasks/${half.id}`, { status: 'done' });
  const [last] = await ended(id, 2);
  expect([last?.kind, last?.failure?.message]).toEqual(['continue', isPublicWhy]);
  expect(await shown(number)).not.toContain('PRIVATE');
});

test('a run that waited while its repository became private does not go on, and what it asked is no longer shown', async () => {
  const repositoryId = await docs(false);
  turns = [call('ask_person', { question: 'ASKED about Docs?', options: [] }), ...secret];
  const number = await world.issue('/agent create', { title: 'Asks' });
  const { id } = await taskWhere('the task', (t) => t.issueNumber === number);
  const owner = (await tasks()).find((each) => each.owner !== null)?.owner;
  await api('PATCH', `/tasks/${id}`, { repositoryId, owner });
  await api('POST', `/tasks/${id}/start`);
  const { attention } = await taskWhere('the question', (t) => t.id === id && t.attention !== null);
  await until('the question on GitHub', async () => (await shown(number)).includes('ASKED about Docs?'));
  const last = await answeredInPrivate(id, number, attention?.id);
  expect(last?.failure?.message).toEqual(isPublicWhy);
  expect(await shown(number)).not.toContain('PRIVATE');
});

test('a run that has opened a repository which became private does not go on', async () => {
  await docs(false);
  turns = [
    call('open_repository', { name: 'Docs' }),
    call('ask_person', { question: 'ASKED after reading Docs?', options: [] }),
    call('write_file', { path: 'copied.txt', content: 'PRIVATE\n' }),
    ...secret,
  ];
  const number = await world.issue('/agent start', { title: 'Opens' });
  const { id, attention } = await taskWhere('the question', (t) => t.issueNumber === number && t.attention !== null);
  await until('the question on GitHub', async () => (await shown(number)).includes('ASKED after'));
  const last = await answeredInPrivate(id, number, attention?.id);
  expect(last?.failure?.message).toContain('has the content of a private repository');
  expect(await shown(number)).not.toContain('PRIVATE');
});

// The other way round: what an MCP server answered for a private repository does not become public with it.
test.each([
  ['before the call', 0],
  ['after it', 1],
])('nothing that an MCP server answered is pushed if the repository becomes public %s', async (_when, publicAfter) => {
  const tracker = await startMcpServer();
  const visibility = (isPrivate: boolean) =>
    world.sql(`update repositories set is_private = $1 where name = 'sample'`, [isPrivate]);
  const open = `/projects/${world.project.id}`;
  const sample = (await world.get<{ id: string; name: string }[]>('/repositories')).find((r) => r.name === 'sample');
  const servers = [{ name: 'tracker', url: tracker.url, headers: [], repositories: [sample?.id] }];
  await api('PUT', `${open}/mcp-servers`, servers);
  await visibility(true);
  const ask = call('ask_person', { question: 'Go on?', options: [] });
  const search = call('tracker__search', { query: 'ink' });
  const end = [
    call('write_file', { path: 'ink.txt', content: 'ANSWER' }),
    call('finish', { summary: 'Done.', nextSteps: [] }),
  ];
  const second = call('ask_person', { question: 'Two tickets are about ink. Both?', options: [] });
  turns = publicAfter === 0 ? [ask, search, ...end] : [search, ask, second, ...end];
  const number = await world.issue('/agent start', { title: `Public ${publicAfter}` });
  const waits = await taskWhere('the question', (t) => t.issueNumber === number && t.attention !== null);
  await visibility(false);
  await api('POST', `/tasks/${waits.id}/answer`, { id: waits.attention?.id, text: 'Yes.' });
  if (publicAfter === 1) {
    const isSecond = (t: Task) => t.id === waits.id && t.attention !== null && t.attention.id !== waits.attention?.id;
    const { attention } = await taskWhere('the second question', isSecond);
    await until('its place on GitHub', async () =>
      (await shown(number)).includes('It may repeat answers of MCP servers.'),
    );
    await api('POST', `/tasks/${waits.id}/answer`, { id: attention?.id, text: 'Yes.' });
  }
  const [run] = await ended(waits.id, 1);
  expect(await shown(number)).not.toContain('tickets');
  const searches = tracker.requests.filter(({ method }) => method === 'tools/call');
  tracker.close();
  await api('PUT', `${open}/mcp-servers`, []);
  if (publicAfter === 0) return expect([run?.status, searches]).toEqual(['succeeded', []]);
  expect(run).toMatchObject({
    status: 'failed',
    failure: { message: expect.stringContaining('nothing was pushed to sample. The task has answers of MCP servers') },
  });
  // A second run of the task goes on with the same conversation.
  turns = end;
  await api('POST', `/tasks/${waits.id}/retry`);
  const [retried] = await ended(waits.id, 2);
  expect(retried).toMatchObject({ status: 'failed', failure: { message: expect.stringContaining('MCP servers') } });
  const branches = await world.github.as('mona')<{ name: string }[]>('GET', '/repos/mona/sample/branches');
  expect(branches.map(({ name }) => name).filter((name) => name.includes(waits.id.slice(5, 10)))).toEqual([]);
  await api('PATCH', open, { sharePrivateContext: true });
  await api('POST', `/tasks/${waits.id}/retry`);
  const [shared] = await ended(waits.id, 3);
  expect(shared).toMatchObject({ status: 'succeeded' });
  await api('PATCH', open, { sharePrivateContext: false });
});
