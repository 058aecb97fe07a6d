import { until } from '../../../demo/real-service.ts';
import { mergeInTurn } from '../../../src/github/follow/merging/merges-in-turn.ts';
import { jobs } from '../../../src/jobs.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();
/** As many as there are connections for named locks (src/db/locks.ts). */
const many = 40;

/** Tasks of ada's in review, to whose branches somebody has pushed, so that GitHub refuses to merge what was seen. */
async function inReview() {
  const { em, own, projectId, agents, call } = await acme.twoPeople();
  await em.query('delete from tasks');
  const ids: string[] = [];
  const numbers = Array.from({ length: many }, (_, i) => 100 + i);
  for (const number of numbers) {
    const body = { title: `t${number}`, owner: agents[0]?.id, repositoryId: own.id };
    const { id } = (await call('ada', 'POST', `/projects/${projectId}/tasks`, body)).body;
    await em.query(`update tasks set status = 'in_review', branch_name = $2 where id = $1`, [id, `agent/${number}`]);
    await em.query(
      `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
       values ($1, $2, $3, $4, 'open', $5, 'seen')`,
      [id, own.id, number, `https://github.com/acme/app/pull/${number}`, `agent/${number}`],
    );
    ids.push(id);
  }
  around.merges = ids.map(() => ({
    status: 409,
    message: 'Head branch was modified. Review and try the merge again.',
  }));
  const merges = () => ids.map((id) => call('ada', 'POST', `/tasks/${id}/merge`));
  const shown = (number: number) => ({
    ...{ number, state: 'open', merged_at: null, mergeable: true, additions: 1 },
    ...{ head: { sha: 'pushed', ref: `agent/${number}` }, base: { sha: 'base', ref: 'main' } },
  });
  return { em, own, numbers, merges, shown };
}

/** Counts what is under way at the same time, and lets it wait until `release`. */
function gate() {
  const waiting: (() => void)[] = [];
  const counts = { open: 0, isFree: false };
  const pass = async () => {
    counts.open += 1;
    if (!counts.isFree) await new Promise<void>((resolve) => waiting.push(resolve));
    counts.open -= 1;
  };
  const release = () => {
    counts.isFree = true;
    for (const each of waiting.splice(0)) each();
  };
  return { counts, pass, release };
}

test('merges whose heads have changed clone nothing; few diffs are read at the same time afterwards', async () => {
  const { em, own, numbers, merges, shown } = await inReview();
  const { app } = acme.service;
  for (const number of numbers) around.pages[`/pulls/${number}`] = shown(number);
  // A large repository, or a slow connection: a clone may take five minutes.
  const { counts, pass, release } = gate();
  const before = app.git.open;
  app.git.open = async () => {
    await pass();
    throw new Error('the clone was too slow');
  };
  const replies = await Promise.all(merges());
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([409]));
  expect(counts.open).toBe(0);
  const queued: { data: { repositoryId: string; number: number } }[] = await em.query(
    `select data from pgboss.job where name = 'diff' and state = 'created' order by (data ->> 'number')::int`,
  );
  expect(queued.map(({ data }) => data)).toEqual(numbers.map((number) => ({ repositoryId: own.id, number })));
  const reading = queued.map(({ data }) => jobs.diff.handle(app, data).catch((error: Error) => error.message));
  await until('the first clones', async () => counts.open === 2);
  // They hold no connection for named locks.
  expect(await app.db.withLock('of another project', async () => 'served')).toBe('served');
  expect(counts.open).toBe(2);
  release();
  expect(new Set(await Promise.all(reading))).toEqual(new Set(['the clone was too slow']));
  app.git.open = before;
});

test('merges of one project wait for each other while GitHub is silent, and leave the locks to others', async () => {
  const { numbers, merges, shown } = await inReview();
  const { counts, pass, release } = gate();
  for (const number of numbers) around.pages[`/pulls/${number}`] = () => pass().then(() => shown(number));
  const asked = merges();
  await until('the first merges', async () => counts.open === 4);
  expect(await acme.service.app.db.withLock('of another project', async () => 'served')).toBe('served');
  expect(counts.open).toBe(4);
  release();
  expect(new Set((await Promise.all(asked)).map(({ status }) => status))).toEqual(new Set([409]));
});

test('a merge that has waited too long is refused, and never begins', async () => {
  const { counts, pass, release } = gate();
  const app = { db: acme.service.app.db, stopping: new AbortController().signal };
  const others = Array.from({ length: 4 }, () => mergeInTurn(app, 'p', pass));
  await until('the first merges', async () => counts.open === 4);
  let isBegun = false;
  const late = async () => {
    isBegun = true;
  };
  await expect(mergeInTurn(app, 'p', late, 1)).rejects.toMatchObject({ status: 429 });
  expect(await mergeInTurn(app, 'another', async () => 'merged')).toBe('merged');
  release();
  await Promise.all(others);
  expect(isBegun).toBe(false);
});

test('merges in the projects of one person wait for each other', async () => {
  const { em, ids } = await acme.twoPeople();
  const projects = ['prj_first', 'prj_second'];
  for (const id of projects)
    await em.query(`insert into projects (id, name, slug, created_by) values ($1, $1, $1, $2)`, [id, ids.bob]);
  const { counts, pass, release } = gate();
  const others = Array.from({ length: 4 }, () => mergeInTurn(acme.service.app, 'prj_first', pass));
  await until('the first merges', async () => counts.open === 4);
  await expect(mergeInTurn(acme.service.app, 'prj_second', async () => {}, 1)).rejects.toMatchObject({ status: 429 });
  release();
  await Promise.all(others);
  await em.query('delete from projects where id = any($1)', [projects]);
});
