import { type Place, placeOfEvent } from '../../../src/github/app/place.ts';
import { proveMissed } from '../../../src/github/follow/prove-pulls.ts';
import { findKnownProof, storeJudged } from '../../../src/runs/reviewing/pull-proofs.ts';
import { followBaseFrom, storeCommits } from '../../../src/runs/reviewing/taken-commits.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, looked } from '../../support/stand-ins/named-github.ts';
import { ada, head, place, proofsOfHead, pullOf, settingsSay } from '../mirror/proofs-of-head.ts';

// A proof is about commits that its base branch lacks. The event of a push that brings one of them there may be lost.

const acme = openAcme();
const [first, second, third] = ['1', '2', '3'].map((digit) => digit.repeat(40)) as [string, string, string];
const below = 'c'.repeat(40);

/** Two proved pull requests into `main` at its first commit: 7 has a commit below its head, 8 has none. */
async function proved() {
  const world = await proofsOfHead(acme);
  const { em, own } = world;
  await em.query('delete from proof_bases');
  const heads = { 7: head, 8: 'b'.repeat(40) };
  for (const [number, sha] of Object.entries(heads)) {
    await world.told('opened', { number: Number(number), sha });
    const [{ runId }] = await em.query('select run_id as "runId" from pull_proofs where number = $1', [number]);
    const commits = number === '7' ? [below] : [];
    await storeCommits(em, runId, commits);
    await followBaseFrom(em, own.id, { branch: 'main', head: first });
    const proof = { status: 'no_tests' as const, reason: null };
    await storeJudged(em, runId, { proof, notes: [], seconds: 1, fingerprint: `of ${number}`, commits });
    await world.judge(Number(number), 'no_tests', sha);
  }
  around.pages['/pulls'] = Object.entries(heads).map(([number, sha]) => {
    const { merged: _, ...listed } = pullOf({ number: Number(number), sha });
    return { ...listed, updated_at: '2020-01-01T00:00:00Z' };
  });
  const main = (sha: string) => {
    around.pages['/git/ref/heads%2Fmain'] = { ref: 'refs/heads/main', object: { type: 'commit', sha } };
  };
  main(first);
  const compared = (from: string, to: string, shas: string[], behind = 0) => {
    around.pages[`/compare/${from}...${to}`] = {
      behind_by: behind,
      total_commits: shas.length,
      commits: shas.map((sha) => ({ sha })),
    };
  };
  const sweep = async () =>
    proveMissed(
      acme.service.app,
      (await placeOfEvent(acme.service.app, place.installation, place.repository)) as Place,
      () => false,
    );
  const pushed = (before: string, after: string, commits: string[], forced = false) =>
    acme.service.app.github?.receive({
      id: `${Math.random()}`,
      name: 'push',
      payload: {
        ...{ ref: 'refs/heads/main', before, after, forced, deleted: false, created: false, sender: ada },
        ...place,
        repository: { ...place.repository, default_branch: 'main' },
        commits: commits.map((id) => ({ id })),
      },
    } as never);
  const again = async () =>
    (await em.query(`select number from pull_proofs where status = 'not_run' order by number`)).map(
      ({ number }: { number: number }) => number,
    );
  const followed = async () =>
    (await em.query('select head_sha as sha from proof_bases')).map(({ sha }: { sha: string }) => sha);
  return { ...world, main, compared, sweep, pushed, again, followed };
}

test('the comparison with GitHub finds a push that was not heard of, once', async () => {
  const { em, main, compared, sweep, again, followed } = await proved();
  await sweep();
  expect([await again(), await followed()]).toEqual([[], [first]]);
  main(second);
  compared(first, second, [below, second]);
  await sweep();
  expect([await again(), await followed()]).toEqual([[7], [second]]);
  const jobs = await em.query(`select data from pgboss.job where name = 'proof' and state < 'completed'`);
  expect(jobs.map(({ data }: { data: { number: number } }) => data.number)).toEqual([7]);
  await em.query(`update pull_proofs set status = 'no_tests'`);
  await sweep();
  expect(await again()).toEqual([]);
});

test('a push event shows that the one before it was lost, and one that comes late changes nothing', async () => {
  const { em, main, compared, pushed, again, followed } = await proved();
  main(third);
  compared(first, third, [below, second, third]);
  await pushed(second, third, [third]);
  expect([await again(), await followed()]).toEqual([[7], [third]]);
  await em.query(`update pull_proofs set status = 'no_tests'`);
  await pushed(first, second, [below, second]);
  expect([await again(), await followed()]).toEqual([[], [third]]);
});

test('for the next push, nothing is asked', async () => {
  const { pushed, again, followed } = await proved();
  looked.length = 0;
  await pushed(first, second, [below, second]);
  expect([await again(), await followed()]).toEqual([[7], [second]]);
  expect(looked.filter((path) => path.includes('/compare/') || path.includes('/git/ref/'))).toEqual([]);
});

test.each([
  ['lost commits', (set: Awaited<ReturnType<typeof proved>>) => set.compared(first, second, [second], 1)],
  ['can no longer be compared', () => undefined],
  [
    'has more commits than GitHub sends',
    () => {
      around.pages[`/compare/${first}...${second}`] = { behind_by: 0, total_commits: 251, commits: [] };
    },
  ],
])('all open pull requests into a branch that %s are proved again', async (_, prepare) => {
  const world = await proved();
  world.main(second);
  prepare(world);
  await world.sweep();
  expect(await world.again()).toEqual([7, 8]);
});

test('a branch that was deleted is forgotten, and what goes into a new one of its name is proved again', async () => {
  const { em, sweep, followed } = await proved();
  delete around.pages['/git/ref/heads%2Fmain'];
  await sweep();
  expect(await followed()).toEqual([]);
  around.pages['/pulls'] = (around.pages['/pulls'] as object[]).map((pull) => ({
    ...pull,
    updated_at: new Date(Date.now() + 60_000).toISOString(),
  }));
  await sweep();
  expect(await em.query('select status from pull_proofs')).toEqual([{ status: null }, { status: null }]);
});

test('another default branch with other settings has all open pull requests proved again, heard of or not', async () => {
  const { em, sweep, again } = await proved();
  const settings = { encoding: 'base64', content: Buffer.from('checks: [npm test]\nprove: { everyone: required }\n') };
  around.pages['/contents/.deckhand.yml'] = { ...settings, content: settings.content.toString('base64') };
  await sweep();
  expect(await again()).toEqual([7, 8]);
  settingsSay('required');
  await em.query(`update pull_proofs set status = 'no_tests'`);
  await sweep();
  expect(await again()).toEqual([]);
  around.pages['/contents/.deckhand.yml'] = { ...settings, content: settings.content.toString('base64') };
  const repository = { ...place.repository, default_branch: 'next' };
  const changes = { default_branch: { from: 'main' } };
  const payload = { ...place, action: 'edited', changes, repository, sender: ada };
  await acme.service.app.github?.receive({ id: 'default', name: 'repository', payload } as never);
  expect(await again()).toEqual([7, 8]);
});

test('what was found out about files outlives the proofs that show it', async () => {
  const { em, own, told } = await proved();
  await told('closed', { number: 7, state: 'closed' });
  await told('reopened', { number: 7 });
  expect(await em.query('select status from pull_proofs where number = 7')).toEqual([{ status: null }]);
  expect(await findKnownProof(em, own.id, 'of 7')).toMatchObject({ status: 'no_tests', headSha: head });
  expect(await findKnownProof(em, 'another', 'of 7')).toBeUndefined();
});
