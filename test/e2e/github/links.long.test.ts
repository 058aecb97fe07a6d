import { until } from '../../../demo/real-service.ts';
import { openWorld, type World } from '../../support/world.ts';

const other = '/repos/mona/other/issues';
const own = '/repos/mona/sample/issues';
let world: World;
beforeAll(async () => {
  world = await openWorld([], {
    settings: { SANDBOX: 'off' },
    seed: { more: ['other'], people: ['mona', 'stranger', 'tria'] },
  });
  await world.github.as('mona')('PUT', '/repos/mona/sample/collaborators/tria', { permission: 'triage' });
});
afterAll(() => world.close());

interface Task {
  id: string;
  status: string;
  parentId: string | null;
  dependsOn: string[];
  issueNumber: number | null;
  issueType: string | null;
  issueAssignees: string[];
}
const api = <T = Task>(method: string, path: string, body?: object) =>
  world.service.api<T>(world.token, method, path, body);
const get = (id: string) => world.get<Task>(`/tasks/${id}`);
const idOf = async (path: string, as = 'mona') => (await world.github.as(as)<{ id: number }>('GET', path)).id;
const mona = (method: string, path: string, body?: object) => world.github.as('mona')(method, path, body);

/** Creates a task with an issue; returns both. */
async function task(title: string, more: object = {}): Promise<{ id: string; issue: string; number: number }> {
  const { id } = await api('POST', `/projects/${world.project.id}/tasks`, { title, issue: true, ...more });
  return withIssue(id);
}
async function withIssue(id: string, place = own) {
  const number = await until('the issue', async () => (await get(id)).issueNumber ?? undefined);
  return { id, number, issue: `${place}/${number}` };
}
const repository = async (name: string) =>
  (await world.get<{ id: string; name: string }[]>('/repositories')).find((each) => each.name === name)?.id;
const reconcile = () => api('POST', '/agents/pool/reconcile');
/** Waits until all deliveries and jobs are handled. */
const quiet = () =>
  until('quiet', async () => {
    const [row] = await world.sql<{ n: number }>(
      `select count(*)::int as n from pgboss.job where state in ('created', 'retry', 'active') and name in ('delivery', 'mirror') and start_after <= now()`,
      [],
    );
    return row?.n === 0;
  });
const notice = async (number: number) =>
  (await world.comments(number)).find((c) => c.body.startsWith('<!-- deckhand:status -->'))?.body ?? '';

test('what changes here is shown on GitHub: subtasks as sub-issues, and dependencies', async () => {
  const parent = await task('parent');
  const made = await api('POST', `/tasks/${parent.id}/subtasks`, { title: 'child', issue: true });
  const child = await withIssue(made.id);
  await until('the sub-issue', async () => world.github.links.of('subtask', parent.issue).includes(child.issue));
  const first = await task('first');
  const blocked = await task('blocked', { dependsOn: [first.id] });
  await until('the dependency', async () => world.github.links.of('dependency', blocked.issue).includes(first.issue));
  await api('PATCH', `/tasks/${blocked.id}`, { dependsOn: [] });
  await until('no dependency', async () => world.github.links.of('dependency', blocked.issue).length === 0);
  expect((await get(blocked.id)).dependsOn).toEqual([]);
  // A subtask without an issue gets none.
  await api('POST', `/tasks/${parent.id}/subtasks`, { title: 'hidden' });
  expect(world.github.links.of('subtask', parent.issue)).toHaveLength(1);
});

test('what people change on GitHub changes the tasks, in other repositories of the project, too', async () => {
  const parent = await task('parent');
  const child = await task('child', { repositoryId: await repository('other') }).then(({ id }) => withIssue(id, other));
  await mona('POST', `${parent.issue}/sub_issues`, { sub_issue_id: await idOf(child.issue) });
  await until('the subtask', async () => (await get(child.id)).parentId === parent.id);
  expect((await get(parent.id)).status).toBe('waiting_on_subtasks');
  const others = await task('other parent');
  await mona('POST', `${others.issue}/sub_issues`, { sub_issue_id: await idOf(child.issue), replace_parent: true });
  await until('the move', async () => (await get(child.id)).parentId === others.id);
  await until('the old parent', async () => (await get(parent.id)).status === 'ready');
  await mona('DELETE', `${others.issue}/sub_issue`, { sub_issue_id: await idOf(child.issue) });
  await until('no parent', async () => (await get(child.id)).parentId === null);

  await mona('POST', `${parent.issue}/dependencies/blocked_by`, { issue_id: await idOf(child.issue) });
  await until('the dependency', async () => (await get(parent.id)).dependsOn.includes(child.id));
  await mona('DELETE', `${parent.issue}/dependencies/blocked_by/${await idOf(child.issue)}`);
  await until('no dependency', async () => (await get(parent.id)).dependsOn.length === 0);
  const records = await world.sql<{ action: string }>(
    `select distinct action from audit_records where via = 'issue' order by action`,
    [],
  );
  expect(records.map(({ action }) => action)).toEqual(['task.add_subtask', 'task.remove_subtask', 'task.update']);
});

test('what is forbidden is left alone and said once, and what people without permission do, without a word', async () => {
  const [first, second] = [await task('first'), await task('second')];
  await api('PATCH', `/tasks/${second.id}`, { dependsOn: [first.id] });
  await until('the dependency', async () => world.github.links.of('dependency', second.issue).includes(first.issue));
  // GitHub allows both, and here the parent would wait for itself.
  await mona('POST', `${first.issue}/sub_issues`, { sub_issue_id: await idOf(second.issue) });
  await until('the notice', async () => (await notice(first.number)).includes('was not taken over'));
  expect((await get(second.id)).parentId).toBeNull();
  const third = await task('third');
  await world.github.as('tria')('POST', `${third.issue}/dependencies/blocked_by`, {
    issue_id: await idOf(first.issue),
  });
  await quiet();
  await reconcile();
  await quiet();
  expect((await get(third.id)).dependsOn).toEqual([]);
  expect(world.github.links.of('dependency', third.issue)).toEqual([first.issue]);
  expect(await notice(third.number)).not.toContain('not taken over');
});

test('events that were lost are mended by the comparison, and repeated ones change nothing', async () => {
  const [first, second] = [await task('first'), await task('second')];
  await quiet();
  world.github.deliverTo('http://127.0.0.1:9/');
  await mona('POST', `${first.issue}/sub_issues`, { sub_issue_id: await idOf(second.issue) });
  await mona('POST', `${first.issue}/dependencies/blocked_by`, { issue_id: await idOf(second.issue) });
  world.github.deliverTo(`${world.settings.BASE_URL}/api/github/webhooks`);
  await reconcile();
  await until('the links', async () => (await get(second.id)).parentId === first.id);
  expect((await get(first.id)).dependsOn).toEqual([second.id]);
  const records = () => world.sql(`select id from audit_records where via = 'issue'`, []);
  const before = (await records()).length;
  for (const { guid, event } of world.github.deliveries.filter(({ event }) => /sub_issues|dependencies/.test(event))) {
    expect(event).toBeDefined();
    await world.github.redeliver(guid);
  }
  await quiet();
  expect((await records()).length).toBe(before);
  expect(world.github.links.of('subtask', first.issue)).toEqual([second.issue]);
});

test('the type and the assignees of an issue are shown', async () => {
  const { id, issue, number } = await task('typed');
  world.github.links.types.set(issue, 'Bug');
  await mona('POST', `${issue}/assignees`, { assignees: ['mona'] });
  await world.github.send('issues', {
    sender: 'mona',
    action: 'typed',
    issue: { number },
    type: { id: 1, name: 'Bug' },
  });
  await until('the type', async () => (await get(id)).issueType === 'Bug');
  expect((await get(id)).issueAssignees).toEqual(['mona']);
});

test('a GitHub without links is remembered for a day and loses nothing', async () => {
  world.github.links.lacks.add('subtask').add('dependency');
  const first = await task('first');
  const second = await task('second', { dependsOn: [first.id] });
  const missing = () => world.sql<{ kind: string }>('select kind from missing_on_host order by kind', []);
  await until('the note', async () => (await missing()).some(({ kind }) => kind === 'dependency'));
  expect((await get(second.id)).dependsOn).toEqual([first.id]);
  world.github.links.lacks.clear();
  await api('POST', `/tasks/${first.id}/subtasks`, { title: 'x', issue: true });
  await quiet();
  expect(world.github.links.of('dependency', second.issue)).toEqual([]);
  await world.sql(`update missing_on_host set at = now() - interval '25 hours'`, []);
  await reconcile();
  await until('the dependency', async () => world.github.links.of('dependency', second.issue).includes(first.issue));
});
