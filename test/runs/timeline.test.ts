import { activityOf, type LogEntry, newestLines } from '../../src/runs/sessions/activity.ts';
import { openProject } from '../support/project.ts';

const { service, call, project, token } = await openProject();
const sql = (text: string, values: unknown[] = []) => service.app.db.manager.query(text, values);

interface Entry {
  type: string;
  actor: { login: string } | null;
  agent: string | null;
  text: string;
}

const repository = (
  await call('POST', '/repositories', { projectId: project, name: 'sample', url: 'https://github.com/o/r' })
).body.id;
const [agent] = (await call('GET', '/agents')).body;

/** Creates a task. The times of what is added to it later are given in minutes from now. */
async function newTask() {
  const { id } = (await call('POST', `/projects/${project}/tasks`, { title: 'T', owner: agent.id })).body;
  const minutes = (n: number) => new Date(Date.now() + n * 60_000).toISOString();
  return {
    id,
    run: (runId: string, status: string, at: number, failure: object | null = null) =>
      sql(
        `insert into runs (id, task_id, project_id, agent_id, kind, status, failure, created_at, finished_at)
         values ($1, $2, $3, $4, 'start', $5, $6, $7, $7)`,
        [runId, id, project, agent.id, status, failure, minutes(at)],
      ),
    event: (runId: string, at: number, text: string, data: object, type = 'waiting') =>
      sql('insert into run_events (run_id, at, type, text, data) values ($1, $2, $3, $4, $5)', [
        runId,
        minutes(at),
        type,
        text,
        data,
      ]),
    minutes,
    entries: async (query = ''): Promise<Entry[]> => (await call('GET', `/tasks/${id}/timeline${query}`)).body,
  };
}

const shown = ({ type, actor, agent, text }: Entry) => `${actor?.login ?? agent ?? '-'} ${type} ${text}`.trimEnd();

test('the timeline says who did what, newest first', async () => {
  const { id, run, event, minutes, entries } = await newTask();
  await call('PATCH', `/tasks/${id}`, { status: 'ready' });
  await run('run_1', 'failed', 20, { category: 'checks', message: 'The checks fail.', retryable: true });
  await event('run_1', 5, 'waiting: # My plan', { reason: 'plan', options: [] });
  await event('run_1', 6, 'waiting for 9 s: busy', { reason: 'model', options: [] });
  await event('run_1', 7, 'waiting: Tabs or spaces?', { reason: 'question', options: ['tabs', 'spaces'] });
  await event('run_1', 8, 'edit_file a.js', { ok: true }, 'tool');
  await sql(
    `insert into run_steps (run_id, name, data, at) values ('run_1', 'push', $1, $2), ('run_1', 'plan', $1, $2)`,
    [{ commit: 'abcdef0123456789' }, minutes(21)],
  );
  await sql(
    `insert into handoffs (id, task_id, run_id, summary, next_steps) values ('handoff_1', $1, 'run_1', 'Half done.', '["Go on"]')`,
    [id],
  );
  await sql(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha, created_at, merged_at)
     values ($1, $2, 7, 'https://github.com/o/r/pull/7', 'merged', 'agent/x', 'x', $3, $4)`,
    [id, repository, minutes(22), minutes(23)],
  );
  const all = await entries();
  expect(all.map(shown)).toEqual([
    '- pull_merged sample #7',
    '- pull_opened sample #7',
    `${agent.name} pushed abcdef0`,
    `${agent.name} run_failed The checks fail.`,
    `${agent.name} wait_question Tabs or spaces?`,
    `${agent.name} wait_plan # My plan`,
    'octocat update',
    'octocat created',
  ]);
  expect(all[3]).toMatchObject({
    runId: 'run_1',
    handoff: { summary: 'Half done.', nextSteps: ['Go on'] },
    via: null,
  });
  expect(all[0]).toMatchObject({ url: 'https://github.com/o/r/pull/7', changes: {} });
  expect(all[6]).toMatchObject({ via: 'token', changes: { status: ['backlog', 'ready'] } });
});

test('the run of an undo names its agent only if that did something', async () => {
  const { id, run, minutes, entries } = await newTask();
  await run('run_undo', 'succeeded', 5);
  await sql(`insert into run_steps (run_id, name, data, at) values ('run_undo', 'push', $1, $2)`, [
    { commit: 'abcdef0123456789' },
    minutes(4),
  ]);
  await sql('update tasks set undo_of = id where id = $1', [id]);
  expect((await entries()).map(shown)).toEqual(['- run_succeeded', '- pushed abcdef0', 'octocat created']);
  await sql(`update runs set steps = 1 where id = 'run_undo'`);
  expect((await entries()).map(shown)).toEqual([
    `${agent.name} run_succeeded`,
    `${agent.name} pushed abcdef0`,
    'octocat created',
  ]);
});

test('what people said to agents is quoted, and what the system did has no actor', async () => {
  const { id, entries } = await newTask();
  const record = (action: string, actor: string | null, detail: object) =>
    sql(
      `insert into audit_records (id, project_id, actor_id, actor_login, via, action, object_type, object_id, detail)
       values ('audit_' || gen_random_uuid(), $1, $2, $2, $3, $4, 'task', $5, $6)`,
      [project, actor, actor === null ? 'system' : 'comment', action, id, detail],
    );
  await record('task.answer', 'mona', { answer: [null, 'Tabs.'], attention: ['question', null] });
  await record('task.revise', 'mona', { request: [null, 'Shorter.'] });
  await record('task.retry', 'mona', { instructions: [null, 'Mind the tabs.'] });
  // These are shown by other entries, or are no change of the task.
  await record('task.propose', null, { status: ['in_progress', 'in_review'] });
  await record('task.chat', 'mona', {});
  await record('issue.status', 'mona', {});
  await record('task.finish', null, { status: ['in_review', 'done'] });
  expect((await entries()).map(shown)).toEqual([
    '- finish',
    'mona retry Mind the tabs.',
    'mona revise Shorter.',
    'mona answer Tabs.',
    'octocat created',
  ]);
});

test('a request for changes shows what the person wrote, and not what the agent is told besides', async () => {
  const { id, entries } = await newTask();
  await sql(`update tasks set status = 'in_progress' where id = $1`, [id]);
  await sql(
    `insert into runs (id, task_id, project_id, agent_id, kind, status) values ('run_live', $1, $2, $3, 'start', 'running')`,
    [id, project, agent.id],
  );
  const comments = [
    { path: 'src/b.ts', line: 2, side: 'new', quote: 'const b', text: 'Why?' },
    { path: 'src/a.ts', line: 12, side: 'old', quote: '', text: 'Keep this.' },
  ];
  const { status } = await call('POST', `/tasks/${id}/revise`, { text: 'Almost.', comments });
  expect(status).toBe(200);
  const words = 'Almost.\n\nsrc/a.ts:12 (removed line):\nKeep this.\n\nsrc/b.ts:2:\nWhy?';
  expect((await entries()).find(({ type }) => type === 'revise')?.text).toBe(words);
  const [revision] = await sql('select text from revisions where task_id = $1', [id]);
  expect(revision.text).toContain('Answer each of these comments with answer_comment');
  expect(revision.text).toContain('> const b');
  // The sessions of other tests have no runs.
  await sql(`update runs set status = 'cancelled', finished_at = now() where id = 'run_live'`);
});

test('the timeline comes in pages, and has only entries of the task', async () => {
  const { id, run, entries } = await newTask();
  await (await newTask()).run('run_other', 'succeeded', 1);
  for (const n of [1, 2, 3]) await run(`run_${id}_${n}`, 'succeeded', n);
  const first = await service.call('GET', `/tasks/${id}/timeline?limit=2`, { token });
  expect(first.headers.get('link')).toContain('rel="next"');
  expect(await entries('?limit=2&offset=2')).toEqual((await entries()).slice(2));
  expect(await entries()).toHaveLength(4);
});

test('long texts of the timeline are cut', async () => {
  const { run, entries } = await newTask();
  await run('run_long', 'failed', 1, { category: 'model', message: 'x'.repeat(2000), retryable: true });
  expect((await entries())[0]?.text).toHaveLength(500);
});

test('sessions say what runs do now, why they wait and their place in the queue', async () => {
  const none = (await call('GET', '/me/sessions')).body;
  expect(none).toEqual([]);
  const [working, waiting, next, later] = [await newTask(), await newTask(), await newTask(), await newTask()];
  await working.run('run_working', 'queued', 1);
  await sql(`update runs set status = 'running', finished_at = null, started_at = created_at, steps = 2, cost_usd = 0.25,
    started_by = (select id from users limit 1) where id = 'run_working'`);
  await working.event(
    'run_working',
    2,
    'a-model answered',
    { calls: ['read_file a.js', 'run_command npm test'] },
    'model',
  );
  await working.event('run_working', 3, 'read_file a.js', { ok: true, call: 0 }, 'tool');
  await waiting.run('run_waiting', 'queued', 2);
  await sql(`update runs set status = 'waiting', finished_at = null, wait_id = 'w', wait_reason = 'question', wait_text = '?', wait_options = '[]',
    waiting_since = now() where id = 'run_waiting'`);
  // The older one is claimed first, although it comes later here.
  await later.run('run_later', 'queued', 4);
  await next.run('run_next', 'queued', 3);
  await sql(`update runs set finished_at = null where status = 'queued'`);
  const sessions = (await call('GET', '/me/sessions')).body;
  expect(sessions.map((s: { id: string; queuePosition: number | null }) => [s.id, s.queuePosition])).toEqual([
    ['run_working', null],
    ['run_waiting', null],
    ['run_next', 1],
    ['run_later', 2],
  ]);
  expect(sessions[0]).toMatchObject({
    ...{ taskId: working.id, taskTitle: 'T', agentName: agent.name, startedBy: 'octocat', steps: 2, costUsd: 0.25 },
    activity: { doing: 'calling', call: 'run_command npm test' },
    lines: [{ type: 'tool', text: 'read_file a.js' }],
  });
  expect(sessions[1]).toMatchObject({ waitReason: 'question', activity: null });
  expect((await call('GET', `/me/sessions?projectId=${project}&limit=1`)).body).toHaveLength(1);
  expect((await call('GET', '/me/sessions?projectId=project_other')).body).toEqual([]);
  const stranger = await service.token('stranger');
  expect((await service.call('GET', '/me/sessions', { token: stranger })).body).toEqual([]);
  const [newest] = (await call('GET', `/projects/${project}/runs`)).body;
  expect(newest).toMatchObject({
    id: 'run_1',
    status: 'failed',
    failure: 'The checks fail.',
    activity: null,
    lines: [],
  });
  await sql(`update runs set status = 'cancelled', finished_at = now() where finished_at is null`);
});

test('what a run does follows from the newest entries of its log', () => {
  const at = new Date();
  const entry = (type: string, more: Partial<LogEntry> = {}) => ({
    type,
    at,
    text: type,
    calls: null,
    call: null,
    ...more,
  });
  const doing = (...newestFirst: LogEntry[]) => {
    const { doing: what, call: about } = activityOf(at, newestFirst);
    return about === null ? what : `${what} ${about}`;
  };
  const answer = entry('model', { calls: ['read_file a', 'run_command b'] });
  expect(doing()).toBe('preparing');
  expect(doing(entry('repository'))).toBe('preparing');
  expect(doing(entry('setup'), entry('loop'))).toBe('setting_up');
  expect(doing(entry('loop'))).toBe('thinking');
  expect(doing(answer, entry('loop'))).toBe('calling read_file a');
  expect(doing(entry('tool', { call: 0 }), answer)).toBe('calling run_command b');
  expect(doing(entry('network'), entry('tool', { call: 0 }), answer)).toBe('calling run_command b');
  expect(doing(entry('tool', { call: 1 }), entry('tool', { call: 0 }), answer)).toBe('thinking');
  // The answer has so many calls that it is not among the entries that were read.
  expect(doing(entry('tool', { call: 40 }))).toBe('thinking');
  expect(doing(entry('model', { calls: ['finish done'] }))).toBe('checking');
  expect(doing(entry('check'), entry('model', { calls: ['finish done'] }))).toBe('checking');
  expect(doing(entry('push'))).toBe('publishing');
  const lines = newestLines([entry('tool'), answer, entry('said', { text: ' ' }), entry('check'), entry('setup')], 2);
  expect(lines.map(({ text }) => text)).toEqual(['check', 'tool']);
});
