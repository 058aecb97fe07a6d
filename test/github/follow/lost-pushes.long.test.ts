import { proveAgainJob } from '../../../src/github/follow/prove-pulls.ts';
import { askForProof } from '../../../src/runs/pull-proofs/ask-proof.ts';
import { outdateTaken } from '../../../src/runs/pull-proofs/outdated-proofs.ts';
import { findKnownProof } from '../../../src/runs/pull-proofs/pull-proofs.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, looked } from '../../support/stand-ins/named-github.ts';
import { branchIs, eve, head, pullOf } from '../mirror/proofs-of-head.ts';
import * as worlds from './proof-world.ts';
import { below, first, headOf8, say, second, third, type World } from './proof-world.ts';

// A proof is about commits that its base branch lacks. Events of pushes may be lost, late or out of order.

const acme = openAcme();
const opened = (base?: string) => worlds.opened(acme, base);
const proved = (base?: string) => worlds.proved(acme, base);
const later = () => new Date(Date.now() + 60_000).toISOString();

test('the comparison with GitHub finds a push that was not heard of, once', async () => {
  const { compared, sweep, outdated, followed, jobs, proveAgain, mirror, latest } = await proved();
  await sweep();
  expect([await outdated(), await followed()]).toEqual([[], [first]]);
  branchIs('main', second);
  compared(first, second, [below, second]);
  await sweep();
  expect([await outdated(), await followed(), await jobs()]).toEqual([[7], [second], [7]]);
  await mirror(7);
  expect(latest()).toBe(
    'action_required: The proof by tests did not run: its base branch has changed, and it is being proved again.',
  );
  await proveAgain();
  await sweep();
  expect(await outdated()).toEqual([]);
});

test('a push event shows that the one before it was lost, and one that comes late changes nothing', async () => {
  const { compared, pushed, outdated, followed, proveAgain } = await proved();
  branchIs('main', third);
  compared(first, third, [below, second, third]);
  await pushed(second, third, [third]);
  expect([await outdated(), await followed()]).toEqual([[7], [third]]);
  await proveAgain();
  await pushed(first, second, [below, second]);
  expect([await outdated(), await followed()]).toEqual([[], [third]]);
});

test('for the next push, GitHub is asked for the branch alone', async () => {
  const { pushed, outdated, followed } = await proved();
  branchIs('main', second);
  looked.length = 0;
  await pushed(first, second, [below, second]);
  expect([await outdated(), await followed()]).toEqual([[7], [second]]);
  expect(looked.filter((path) => path.includes('/compare/'))).toEqual([]);
});

test('a push that was taken back before its event came is noticed when it comes again', async () => {
  const { compared, pushed, outdated, followed, sweep } = await proved();
  await pushed(second, first, [], { forced: true });
  await pushed(first, second, [below, second]);
  expect([await outdated(), await followed()]).toEqual([[], [first]]);
  branchIs('main', second);
  compared(first, second, [below, second]);
  await sweep();
  expect(await outdated()).toEqual([7]);
});

test('a proof of a commit where the branch is no longer is about the way back, too', async () => {
  const { em, begin, end, compared, sweep, outdated, followed } = await opened();
  await em.query('delete from proof_bases');
  // Another proof saw the branch at its second commit, from which it was pushed back by force, and no event told of that.
  await begin(7, second);
  await begin(7, first);
  await end(7);
  branchIs('main', second);
  compared(first, second, [below, second]);
  await sweep();
  expect([await outdated(), await followed()]).toEqual([[7], [second]]);
});

test('the merge of a pull request does not outdate its own proof', async () => {
  const { pushed, outdated } = await proved();
  branchIs('main', second);
  await pushed(first, second, [below, head, second]);
  expect(await outdated()).toEqual([]);
});

test('what was proved of a merged pull request stays on its commit, also when its base branch is pushed to', async () => {
  const { pushed, mirror, latest, outdated } = await proved();
  const before = latest();
  around.pages['/pulls/7'] = { ...pullOf({ number: 7, state: 'closed' }), merged: true };
  branchIs('main', second);
  await pushed(first, second, [below, second]);
  await mirror(7);
  expect([await outdated(), latest()]).toEqual([[7], before]);
  around.pages['/pulls/7'] = pullOf({ number: 7, state: 'closed' });
  await mirror(7);
  expect(latest()).toMatch(/^action_required: /);
});

test('another base branch outdates a proof that only a person asked for', async () => {
  const { em, told, outdated } = await proved();
  around.pages['/contents/.deckhand.yml'] = undefined;
  await told('edited', { number: 7, base: 'side' }, { base: { ref: { from: 'main' } } });
  expect(await outdated()).toEqual([7]);
  expect(await em.query('select outdated_reason as reason from pull_proofs where number = 7')).toEqual([
    { reason: expect.stringContaining('ask again') },
  ]);
});

test('another pull request of a proved head, of which nothing was heard, is proved, too', async () => {
  const { em, list, sweep } = await proved();
  around.pages['/pulls/9'] = pullOf({ number: 9 });
  list({ number: 7 }, { number: 9 }, { number: 10, sha: 'd'.repeat(40) });
  await sweep();
  expect(await em.query('select number from pull_proofs order by number')).toEqual([
    { number: 7 },
    { number: 8 },
    { number: 9 },
  ]);
});

/** Makes the head of pull request 7 one that a run of a task has pushed. */
async function madeByRun({ em, own, projectId }: Pick<World, 'em' | 'own' | 'projectId'>): Promise<void> {
  await em.query(
    `insert into tasks (id, project_id, title, status, repository_id) values ('task_own', $1, 't', 'in_review', $2)`,
    [projectId, own.id],
  );
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     values ('task_own', $1, 7, 'https://github.com/acme/app/pull/7', 'open', 'b', $2)`,
    [own.id, head],
  );
  await em.query(
    `insert into runs (id, task_id, project_id, kind, status, finished_at)
     values ('run_own', 'task_own', $1, 'start', 'succeeded', now())`,
    [projectId],
  );
  await em.query(
    `insert into run_steps (run_id, name, data) values ('run_own', 'pushing', jsonb_build_object('commit', $1::text))`,
    [head],
  );
}

test('a head that a run of a task made is left to people, and looked at once', async () => {
  const world = await proved();
  const { em, own, sweep, jobs, proveAgain, outdated } = world;
  await madeByRun(world);
  // Somebody had asked for its proof, which a late job leaves alone.
  await proveAgainJob(acme.service.app, { repositoryId: own.id, number: 7 });
  expect(await em.query('select own_head as own from pull_proofs where number = 7')).toEqual([{ own: null }]);
  say('npm run strict');
  await sweep();
  expect(await jobs()).toEqual([7, 8]);
  await proveAgain();
  const [reason] = await em.query(
    'select outdated_reason as reason, own_head as own from pull_proofs where number = 7',
  );
  expect(reason).toEqual({ reason: expect.stringContaining('ask again'), own: head });
  await em.query(`delete from pgboss.job where name = 'proof'`);
  await sweep();
  expect([await jobs(), await outdated()]).toEqual([[], [7]]);
});

test('what somebody had proved of a head that a run made counts no longer once the branch had another one', async () => {
  const world = await opened();
  const { em, own, begin, end, pushed, mirror, latest, told, outdated, proveAgain } = world;
  await madeByRun(world);
  await begin(7);
  await end(7);
  expect(latest()).toMatch(/^neutral: Not proved/);
  const isAt = (sha: string) =>
    em.query('update pull_requests set head_sha = $2 where repository_id = $1', [own.id, sha]);
  const other = '7'.repeat(40);
  for (const each of ['comments', 'reviews', 'files', 'commits']) around.pages[`/pulls/7/${each}`] = [];
  await isAt(other);
  await told('synchronize', { number: 7, sha: other });
  // This commit is in the history of the first head, but not in that of the other one.
  branchIs('main', second);
  await pushed(first, second, [below, second]);
  expect(await outdated()).toEqual([]);
  await isAt(head);
  await told('synchronize', { number: 7 });
  await proveAgain();
  await mirror(7);
  expect([await outdated(), latest()]).toEqual([[7], expect.stringMatching(/^action_required: .*ask again/)]);
});

test('a job that comes late leaves what a person has asked for since', async () => {
  const { em, own, ids, told, end, begin, pushed, jobs, proveAgain, outdated } = await opened();
  await told('opened', { number: 9, sha: headOf8, user: eve });
  const ask = () => askForProof(acme.service.app, { repository: own, number: 9, askedBy: ids.ada });
  await ask();
  await begin(9);
  await end(9);
  branchIs('main', second);
  await pushed(first, second, [], { forced: true });
  around.pages['/pulls'] = [pullOf({ number: 9, sha: headOf8, user: eve })];
  expect(await outdated()).toContain(9);
  await acme.service.app.queue.send(undefined, 'proof', { repositoryId: own.id, number: 9 }, { key: 'late' });
  await ask();
  expect(await jobs()).toContain(9);
  await proveAgain();
  expect(await em.query('select hold, run_id is not null as "hasRun" from pull_proofs where number = 9')).toEqual([
    { hold: null, hasRun: true },
  ]);
});

test('a large push is compared with many proofs in less than two seconds', async () => {
  const { em, own } = await opened();
  await em.query(
    `insert into pull_proofs (id, repository_id, number, head_sha, is_required, base_branch, status, at, commits)
     select 'proof_many_' || n, $1, 1000 + n, repeat('e', 40), true, 'main', 'proved', now(),
       (select array_agg(md5(n || ' ' || i) || '00000000') from generate_series(1, 499) i) from generate_series(1, 1000) n`,
    [own.id],
  );
  const commits = Array.from({ length: 2047 }, (_, i) => String(i).padStart(40, 'f'));
  const began = performance.now();
  expect(await outdateTaken(em, { repositoryId: own.id, branch: 'main' }, commits, 'r')).toEqual([]);
  expect(performance.now() - began).toBeLessThan(2000);
});

test.each<[string, (world: World) => void]>([
  ['lost commits', ({ compared }) => compared(first, second, [second], 1)],
  ['can no longer be compared', () => undefined],
  [
    'has more commits than GitHub sends',
    () => {
      around.pages[`/compare/${first}...${second}`] = { behind_by: 0, total_commits: 251, commits: [] };
    },
  ],
])('all pull requests into a branch that %s are proved again', async (_, prepare) => {
  const world = await proved();
  branchIs('main', second);
  prepare(world);
  await world.sweep();
  expect([await world.outdated(), await world.jobs()]).toEqual([
    [7, 8],
    [7, 8],
  ]);
});

test('a proof that is being tried counts no longer when it ends, however late the job is that tries it again', async () => {
  const { begin, end, pushed, outdated, jobs, latest, proveAgain } = await opened();
  await begin(7);
  branchIs('main', second);
  await pushed(first, second, [below, second]);
  await end(7);
  expect([await outdated(), await jobs(), latest()]).toEqual([
    [7],
    [7],
    'action_required: The proof by tests did not run: its base branch has changed, and it is being proved again.',
  ]);
  await proveAgain();
  expect(await outdated()).toEqual([]);
});

test.each([
  ['for a moment', first],
  ['and made again', third],
])('a base branch that was gone %s has everything that goes into it proved again', async (_, then) => {
  const { sweep, outdated, followed, jobs, proveAgain } = await proved('side');
  branchIs('side', undefined);
  await sweep();
  expect([await outdated(), await followed()]).toEqual([[7, 8], []]);
  branchIs('side', then);
  await sweep();
  expect(await jobs()).toEqual([7, 8]);
  await proveAgain();
  expect(await outdated()).toEqual([]);
});

test('what was closed while its base branch was pushed by force, or deleted, is proved again once it is open', async () => {
  const { told, pushed, list, sweep, outdated, jobs, begin, end } = await proved('side');
  await told('closed', { number: 7, base: 'side', state: 'closed' });
  list({ number: 8, sha: headOf8 });
  branchIs('side', second);
  await pushed(first, second, [], { forced: true });
  expect([await outdated(), await jobs()]).toEqual([[7, 8], [8]]);
  branchIs('side', undefined);
  await pushed(second, '0'.repeat(40), [], { deleted: true });
  // Another pull request follows the branch that was made again. The event of the reopened one is lost.
  branchIs('side', third);
  await told('synchronize', { number: 8, sha: 'd'.repeat(40), base: 'side' });
  await begin(8, third);
  await end(8);
  around.pages['/pulls/7'] = pullOf({ number: 7, base: 'side' });
  list({ number: 7, updated: later() }, { number: 8, sha: 'd'.repeat(40) });
  await sweep();
  expect(await jobs()).toContain(7);
});

test('what an earlier release proved is followed from the next push, or comparison, on', async () => {
  const { em, pushed, sweep, outdated, followed, proveAgain } = await proved();
  await em.query('delete from proof_bases');
  branchIs('main', second);
  await pushed(first, second, [below, second]);
  expect([await outdated(), await followed()]).toEqual([[7], [second]]);
  await proveAgain();
  await em.query('update pull_proofs set rules = null where number = 8');
  await sweep();
  expect(await outdated()).toEqual([8]);
});

test('what was found out about files outlives the proofs that show it, for a time', async () => {
  const { em, own, told } = await proved();
  await told('closed', { number: 7, state: 'closed' });
  await told('reopened', { number: 7 });
  expect(await em.query('select status from pull_proofs where number = 7')).toEqual([{ status: null }]);
  expect(await findKnownProof(em, own.id, 'of 7')).toMatchObject({ status: 'no_tests', headSha: head });
  expect(await findKnownProof(em, 'another', 'of 7')).toBeUndefined();
  await em.query(`update proof_evidence set at = now() - interval '91 days'`);
  expect(await findKnownProof(em, own.id, 'of 7')).toBeUndefined();
});

test.each([
  ['a large push', 150],
  ['a push with more commits than GitHub sends', 2048],
])('%s outdates what it affects', async (_name, count) => {
  const { pushed, outdated, followed } = await proved();
  branchIs('main', second);
  const others = Array.from({ length: count - 1 }, (_, i) => i.toString(16).padStart(40, '9'));
  const message = 'm'.repeat(8000);
  await pushed(first, second, [], { commits: [...others, below].map((id) => ({ id, message })) });
  expect(await outdated()).toEqual(count === 150 ? [7] : [7, 8]);
  expect(await followed()).toEqual([second]);
});
