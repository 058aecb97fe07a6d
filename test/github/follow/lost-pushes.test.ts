import { storableJson } from '../../../src/domain/text/sanitize.ts';
import { noSettings, rulesOfProofs } from '../../../src/repositories/settings/repository-settings.ts';
import { askForProof } from '../../../src/runs/reviewing/ask-proof.ts';
import { outdateTaken } from '../../../src/runs/reviewing/outdated-proofs.ts';
import { findKnownProof } from '../../../src/runs/reviewing/pull-proofs.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, looked } from '../../support/stand-ins/named-github.ts';
import { ada, branchIs, eve, head, place, pullOf, settingsSay } from '../mirror/proofs-of-head.ts';
import * as worlds from './proof-world.ts';
import { below, first, headOf8, say, second, third, type World } from './proof-world.ts';

// A proof is about commits that its base branch lacks, and about settings. Events about either may be lost, late or out of order.

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

test('another base branch outdates a proof that only a person asked for', async () => {
  const { em, told, outdated } = await proved();
  around.pages['/contents/.deckhand.yml'] = undefined;
  await told('edited', { number: 7, base: 'side' }, { base: { ref: { from: 'main' } } });
  expect(await outdated()).toEqual([7]);
  expect(await em.query('select outdated_reason as reason from pull_proofs where number = 7')).toEqual([
    { reason: expect.stringContaining('ask again') },
  ]);
});

test('pull requests that wait follow the settings, too', async () => {
  const { em, told, sweep, list, jobs, proveAgain } = await opened();
  await told('opened', { number: 9, user: eve });
  list({ number: 9, user: eve });
  await em.query(`update pull_proofs set is_required = false, rules = 'weaker' where number = 9`);
  await sweep();
  expect(await jobs()).toEqual([9]);
  await proveAgain();
  const required = await em.query('select is_required as "isRequired" from pull_proofs where number = 9');
  expect(required).toEqual([{ isRequired: true }]);
  await em.query(`delete from pgboss.job where name = 'proof'`);
  await sweep();
  expect(await jobs()).toEqual([]);
  // Once no proof was wanted, and now one is.
  await em.query(`update pull_proofs set hold = 'settings', reason = null, rules = null where number = 9`);
  await sweep();
  expect(await jobs()).toEqual([9]);
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

test('the event of an old push says nothing about the settings of today', async () => {
  const { pushed, outdated } = await proved();
  const now = around.pages['/contents/.deckhand.yml'];
  say('npm run old');
  const then = around.pages['/contents/.deckhand.yml'];
  around.pages['/contents/.deckhand.yml'] = (query: URLSearchParams) => (query.get('ref') === second ? then : now);
  await pushed(first, second, [second]);
  expect(await outdated()).toEqual([]);
  branchIs('main', second);
  await pushed(first, second, [second]);
  expect(await outdated()).toEqual([7, 8]);
});

test('while the settings cannot be used, no pull request of before makes proofs voluntary', async () => {
  const { em, told, latest } = await proved();
  await told('opened', { number: 9, user: eve, sha: 'e'.repeat(40) });
  around.pages['/contents/.deckhand.yml'] = {
    encoding: 'base64',
    content: Buffer.from('prove: all\n').toString('base64'),
  };
  await told('reopened', { number: 7 });
  await em.query('update pull_proofs set is_required = false where number = 9');
  await told(
    'edited',
    { number: 9, user: eve, sha: 'e'.repeat(40), base: 'side' },
    { base: { ref: { from: 'main' } } },
  );
  await told('opened', { number: 10, sha: 'd'.repeat(40) });
  expect(latest('d'.repeat(40))).toMatch(/^action_required: /);
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

test('settings are the same after they were stored', () => {
  const read = { ...noSettings, checks: ['echo \0 \ud800'], setup: ['b', 'a'] };
  const stored = Object.fromEntries(Object.entries(JSON.parse(storableJson(read))).reverse());
  expect(rulesOfProofs(stored as typeof read)).toBe(rulesOfProofs(read));
  expect(rulesOfProofs({ ...read, setup: ['a', 'b'] })).not.toBe(rulesOfProofs(read));
});

test('whether a check run fails is what the settings of the run said', async () => {
  const { em, begin, end } = await opened();
  await em.query('update pull_proofs set is_required = false');
  await begin(7);
  await end(7, 'strict');
  expect(await em.query('select is_required as "isRequired" from pull_proofs')).toEqual([{ isRequired: true }]);
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

test('new settings outdate a proof that is being tried, and settings that only its run has read, too', async () => {
  const { em, begin, end, pushed, outdated, sweep, proveAgain } = await opened();
  await begin(7);
  say('npm run strict');
  await em.query('update pull_proofs set is_required = false');
  await pushed(first, second, [second]);
  expect(await outdated()).toEqual([7]);
  expect(await em.query('select is_required as "isRequired" from pull_proofs')).toEqual([{ isRequired: true }]);
  await proveAgain();
  await begin(7);
  // Others were in force for a moment when it began, and no event told of them.
  await end(7, 'weaker');
  expect(await outdated()).toEqual([]);
  branchIs('main', second);
  await sweep();
  expect(await outdated()).toEqual([7]);
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

test('another default branch with other settings has all open pull requests proved again, heard of or not', async () => {
  const { sweep, outdated, proveAgain } = await proved();
  say('npm test');
  await sweep();
  expect(await outdated()).toEqual([7, 8]);
  await proveAgain();
  await sweep();
  expect(await outdated()).toEqual([]);
  settingsSay('required');
  const repository = { ...place.repository, default_branch: 'next' };
  const changes = { default_branch: { from: 'main' } };
  const payload = { ...place, action: 'edited', changes, repository, sender: ada };
  await acme.service.app.github?.receive({ id: 'default', name: 'repository', payload } as never);
  expect(await outdated()).toEqual([7, 8]);
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
