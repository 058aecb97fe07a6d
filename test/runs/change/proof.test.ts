import { BasesOfProofs1769299200000 } from '../../../migrations/0064-bases-of-proofs.ts';
import type { RepositoryRow } from '../../../src/db/tables/project.ts';
import { notRun, type Proof, type ProofStatus } from '../../../src/domain/proof/proof.ts';
import { pictureOfProof } from '../../../src/github/mirror/sync.ts';
import { decidingSettings, noSettings } from '../../../src/repositories/settings/repository-settings.ts';
import { insertStep } from '../../../src/runs/journal.ts';
import { setProvenCommit, upsertProof } from '../../../src/runs/proof/proof-store.ts';
import { findProofOf } from '../../../src/worker/proof/publish-proof.ts';
import { openTestApp, type TestApp } from '../../support/app.ts';

let service: TestApp;
let token: string;
let project: string;
let made = 0;
const em = () => service.app.db.manager;
const sql = (text: string, values: unknown[] = []) => em().query(text, values);

beforeAll(async () => {
  service = await openTestApp();
  token = await service.token('octocat');
  project = (await service.call('POST', '/projects', { token, body: { name: 'P' } })).body.id;
  for (const name of ['shop', 'docs'])
    await sql(`insert into repositories (id, project_id, name, url, default_branch) values ($1, $2, $3, $4, 'main')`, [
      name,
      project,
      name === 'shop' ? 'Shop' : 'Docs',
      `https://git.example/${name}`,
    ]);
});
afterAll(() => service.close());

const proofWith = (status: ProofStatus): Proof => ({
  ...notRun(`it is ${status}`),
  status,
  ...(status === 'proved' ? { reason: null } : {}),
});

const base = { branch: 'main', commit: 'b1' };

/** Creates a task of the shop, and returns functions that do what its runs and pull requests do. */
async function openTask() {
  const id: string = (await service.call('POST', `/projects/${project}/tasks`, { token, body: { title: 't' } })).body
    .id;
  await sql(`update tasks set repository_id = 'shop' where id = $1`, [id]);
  const number = ++made;
  return {
    id,
    /** Adds a run that proved this about trees, which have the names of the statuses. */
    run: async (parts: Record<string, ProofStatus>, status = 'succeeded') => {
      const run = { id: `run_${++made}`, taskId: id };
      await sql(
        `insert into runs (id, task_id, project_id, kind, status, created_at)
         values ($1, $2, $3, 'start', $4, now() + make_interval(secs => $5))`,
        [run.id, id, project, status, made],
      );
      const all = Object.entries(parts);
      const trees = Object.fromEntries(all);
      const proofs = Object.fromEntries(all.map(([repository, each]) => [repository, proofWith(each)]));
      const bases = Object.fromEntries(all.map(([repository]) => [repository, base]));
      await upsertProof(em(), run, { trees, parts: proofs, commits: {}, bases });
      return run.id;
    },
    /** Does what a push does, and what GitHub reports afterwards. */
    push: async (runId: string | undefined, repository: string, commit: string, status = 'open') => {
      if (runId !== undefined) await setProvenCommit(em(), runId, repository, commit);
      await sql(
        `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
         values ($1, $2, $3, 'u', $4, 'agent/x', $5)
         on conflict (repository_id, number) do update set head_sha = excluded.head_sha, status = excluded.status`,
        [id, repository, number, status, commit],
      );
    },
    proof: async () => {
      const { status, reason } = (await service.call('GET', `/tasks/${id}/proof`, { token })).body;
      return { status, reason };
    },
  };
}

test('the proof of a task is the worst of all open pull requests, also of those that the latest run left alone', async () => {
  const task = await openTask();
  const first = await task.run({ shop: 'no_tests', docs: 'weakened' });
  await task.push(first, 'shop', 's1');
  await task.push(first, 'docs', 'd1');
  const second = await task.run({ shop: 'proved' });
  await task.push(second, 'shop', 's2');
  const weakened = { status: 'weakened', reason: 'in the repository Docs, it is weakened' };
  expect(await task.proof()).toEqual(weakened);
  const readiness = await service.call('GET', `/tasks/${task.id}/merge-readiness`, { token });
  expect(JSON.stringify(readiness.body.problems)).toContain('Tests were weakened: in the repository Docs');
  // Commits of a person make no difference for the other pull request.
  await task.push(undefined, 'docs', 'by a person');
  const untested = 'the branch has commits that no run of this task has tested';
  expect(await task.proof()).toEqual({ ...weakened, status: 'not_run', reason: `in the repository Docs, ${untested}` });
  await task.push(undefined, 'docs', 'd1', 'closed');
  expect(await task.proof()).toMatchObject({ status: 'proved', reason: null });
  await task.push(undefined, 'shop', 'by a person');
  expect(await task.proof()).toMatchObject({ status: 'not_run', reason: untested });
  // Evidence belongs to a commit, whichever run has pushed it.
  await task.push(undefined, 'shop', 's1');
  expect(await task.proof()).toMatchObject({ status: 'no_tests' });
});

test('the change of a live run counts before it is pushed, and not at all once the run ended without a push', async () => {
  const task = await openTask();
  const first = await task.run({ shop: 'weakened' });
  await task.push(first, 'shop', 's1');
  const second = await task.run({ shop: 'proved' }, 'running');
  expect(await task.proof()).toMatchObject({ status: 'proved' });
  const about = { passed: true, repositoryId: 'shop', tree: 'proved' };
  await sql(`insert into run_events (run_id, type, text, data) values ($1, 'check', 'npm test: passed', $2)`, [
    second,
    about,
  ]);
  const checks = async () => (await service.call('GET', `/tasks/${task.id}/change`, { token })).body.checks;
  expect(await checks()).toEqual([{ command: 'npm test', passed: true }]);
  await sql(`update runs set status = 'cancelled', finished_at = now() where id = $1`, [second]);
  expect(await task.proof()).toMatchObject({ status: 'weakened' });
  expect(await checks()).toEqual([]);
});

test('a proof counts for the base branch with which the change was compared, and for no other', async () => {
  const task = await openTask();
  const first = await task.run({ shop: 'proved' });
  await task.push(first, 'shop', 's1');
  const about = { passed: true, repositoryId: 'shop', tree: 'proved' };
  await sql(`insert into run_events (run_id, type, text, data) values ($1, 'check', 'npm test: passed', $2)`, [
    first,
    about,
  ]);
  const checks = async () => (await service.call('GET', `/tasks/${task.id}/change`, { token })).body.checks;
  const moveTo = (branch: string | null) =>
    sql('update pull_requests set base_branch = $2 where task_id = $1', [task.id, branch]);
  await moveTo('main');
  expect([await task.proof(), await checks()]).toEqual([
    { status: 'proved', reason: null },
    [{ command: 'npm test', passed: true }],
  ]);
  await moveTo('weak');
  const moved = {
    status: 'not_run',
    reason: 'no run of this task has tested it for the branch into which it goes now',
  };
  expect([await task.proof(), await checks()]).toEqual([moved, []]);
  // What a run is about to push was compared with the old base, too.
  const second = await task.run({ shop: 'proved' }, 'running');
  expect(await task.proof()).toEqual(moved);
  await moveTo(null);
  expect(await task.proof()).toMatchObject({ status: 'proved' });
  // An older version stored no base.
  await task.push(second, 'shop', 's2');
  await sql(`update proofs set bases = '{}' where run_id = $1`, [second]);
  expect(await task.proof()).toEqual(moved);
});

test('the migration gives earlier proofs the base that is known, and no other', async () => {
  const [usual, based, unknown, alone] = [await openTask(), await openTask(), await openTask(), await openTask()];
  const ending = {
    proofs: [
      { repositoryId: 'shop', tree: 't' },
      { repositoryId: 'gone', tree: 't' },
    ],
  };
  const run = async (task: typeof usual, commit: string) => {
    const id = await task.run({ shop: 'proved' });
    await insertStep(em(), id, 'branch', { base: `base of ${commit}` });
    await insertStep(em(), id, 'ending', ending);
    await task.push(id, 'shop', commit);
    return id;
  };
  const runs = [await run(usual, 'u1'), await run(based, 'b1'), await run(unknown, 'x1')];
  // It was never pushed, and has no pull request.
  runs.push(await alone.run({ shop: 'proved' }));
  await sql(`update pull_requests set base_branch = 'main' where task_id = any($1)`, [[based.id, unknown.id]]);
  for (const [{ id }, head] of [[based, 'b1'] as const, [unknown, 'another commit'] as const])
    await sql(
      `insert into diffs (task_id, branch_name, base_branch, files, truncated, head_sha)
       values ($1, 'agent/x', 'release', '[]', false, $2)`,
      [id, head],
    );
  const runner = em().connection.createQueryRunner();
  const migration = new BasesOfProofs1769299200000();
  await migration.down(runner);
  await migration.up(runner);
  await runner.release();
  const rows = await Promise.all(
    runs.map((id) =>
      sql(
        `select p.bases, s.data -> 'proofs' as proofs from proofs p left join run_steps s on s.run_id = p.run_id
         and s.name = 'ending' where p.run_id = $1`,
        [id],
      ).then(([row]: object[]) => row),
    ),
  );
  const known = (branch: string, commit: string) => {
    const base = { branch, commit: `base of ${commit}` };
    return { bases: { shop: base }, proofs: [{ ...ending.proofs[0], base }, ending.proofs[1]] };
  };
  expect(rows).toEqual([
    known('main', 'u1'),
    known('release', 'b1'),
    { bases: {}, proofs: ending.proofs },
    { bases: {}, proofs: null },
  ]);
});

test('where no pull request was opened, the result of the latest run counts', async () => {
  const task = await openTask();
  await task.run({ shop: 'proved', docs: 'unproved' });
  expect(await task.proof()).toMatchObject({ status: 'unproved', reason: 'in the repository Docs, it is unproved' });
  await task.run({});
  expect(await task.proof()).toMatchObject({ status: 'not_run', reason: 'the change was not checked' });
});

test('a public comment does not name files of a private repository in the reason of a proof', async () => {
  const task = await openTask();
  const run = await task.run({ shop: 'proved', docs: 'unproved' });
  const shownIn = (id: string, isPrivate: boolean) =>
    pictureOfProof(em(), task.id, run, { id, isPrivate } as RepositoryRow).then((proof) => proof?.reason);
  const whole = 'in the repository Docs, it is unproved';
  await sql(`update repositories set is_private = true where id = 'docs'`);
  expect(await shownIn('shop', false)).toBe('the reason lies in a private repository; the page of the task shows it');
  expect([await shownIn('shop', true), await shownIn('docs', true)]).toEqual([whole, whole]);
  await sql(`update repositories set is_private = false where id = 'docs'`);
  expect(await shownIn('shop', false)).toBe(whole);
});

test('a commit is forgotten when its run has judged other files since', async () => {
  const task = await openTask();
  const id = await task.run({ shop: 'weakened', docs: 'proved' }, 'running');
  await task.push(id, 'shop', 's1');
  await task.push(id, 'docs', 'd1');
  const parts = { shop: proofWith('proved'), docs: proofWith('proved') };
  const trees = { shop: 'other', docs: 'proved' };
  await upsertProof(em(), { id, taskId: task.id }, { trees, parts, commits: {}, bases: {} });
  expect((await sql('select commits from proofs where run_id = $1', [id]))[0].commits).toEqual({ docs: 'd1' });
});

test('a proof is recalled for the tree, the settings and the base branch with which it was made', async () => {
  const task = await openTask();
  const run = await task.run({ shop: 'proved' });
  const settings = decidingSettings({ ...noSettings, checks: ['npm test'], tests: ['test/**'] });
  const proof = proofWith('proved');
  await insertStep(em(), run, 'ending', { proofs: [{ repositoryId: 'shop', tree: 't1', settings, base, proof }] });
  const recallFor = (baseBranch: string, tree: string, more: object = {}, isBase = async () => true) =>
    findProofOf(em(), task.id, { repositoryId: 'shop', tree, settings: { ...settings, ...more }, baseBranch }, isBase);
  const recall = (tree: string, more: object = {}) => recallFor('main', tree, more);
  expect(await recall('t1')).toEqual({ proof, base });
  expect(await recallFor('weak', 't1')).toBeUndefined();
  // The base branch was rewritten.
  expect(await recallFor('main', 't1', {}, async () => false)).toBeUndefined();
  expect(await recall('t2')).toBeUndefined();
  for (const changed of [{ checks: ['true'] }, { tests: undefined }, { env: { A: '1' } }, { setup: ['true'] }])
    expect(await recall('t1', changed)).toBeUndefined();
  // What has no influence on a proof does not matter.
  expect(decidingSettings({ ...noSettings, push: 'approved', budget: { steps: 1 } })).toEqual(
    decidingSettings(noSettings),
  );
  // An older version stored no base.
  await sql(`update run_steps set data = $2 where run_id = $1`, [
    run,
    { proofs: [{ repositoryId: 'shop', tree: 't1', settings, proof }] },
  ]);
  expect(await recall('t1')).toBeUndefined();
});
