import { storableJson } from '../../../src/domain/text/sanitize.ts';
import { noSettings, rulesOfProofs } from '../../../src/repositories/settings/repository-settings.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around } from '../../support/stand-ins/named-github.ts';
import { ada, branchIs, eve, place, pullOf, settingsSay } from '../mirror/proofs-of-head.ts';
import * as worlds from './proof-world.ts';
import { first, say, second } from './proof-world.ts';

// A proof is about settings, and weakened tests fail its check run if they say so. Events about them may be lost, late or out of order.

const acme = openAcme();
const opened = (base?: string) => worlds.opened(acme, base);
const proved = (base?: string) => worlds.proved(acme, base);

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

test('a push to a branch that only the project calls the default one says nothing about the settings', async () => {
  const { em, own, judge, begin, pushed, latest, mirror } = await opened('develop');
  await begin(7);
  await judge(7, 'weakened');
  await em.query(`update repositories set default_branch = 'develop' where id = $1`, [own.id]);
  const real = around.pages['/contents/.deckhand.yml'];
  settingsSay('true');
  const theirs = around.pages['/contents/.deckhand.yml'];
  around.pages['/contents/.deckhand.yml'] = (query: URLSearchParams) =>
    [second, 'develop'].includes(query.get('ref') ?? '') ? theirs : real;
  branchIs('develop', second);
  await pushed(first, second, [second]);
  await mirror(7);
  expect(latest()).toMatch(/^failure: Tests were weakened/);
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

test('what was required last is known without an open pull request', async () => {
  const { em, list, sweep, told, latest } = await proved();
  await em.query('update pull_proofs set is_required = false');
  list();
  await sweep();
  around.pages['/contents/.deckhand.yml'] = {
    encoding: 'base64',
    content: Buffer.from('prove: all\n').toString('base64'),
  };
  await told('opened', { number: 10, sha: 'd'.repeat(40) });
  expect(latest('d'.repeat(40))).toMatch(/^action_required: /);
});

test('a pull request of a stranger that was reopened unheard waits again, and for broken settings nobody is asked twice', async () => {
  const { em, told, list, sweep, jobs, proveAgain, latest } = await opened();
  const sha = 'e'.repeat(40);
  await told('opened', { number: 9, sha, user: eve });
  await told('closed', { number: 9, sha, user: eve, state: 'closed' });
  around.pages['/pulls/9'] = pullOf({ number: 9, sha, user: eve });
  list({ number: 9, sha, user: eve });
  await sweep();
  expect(await jobs()).toEqual([9]);
  await proveAgain();
  expect(await em.query('select hold from pull_proofs where number = 9')).toEqual([{ hold: 'writer' }]);
  await em.query(`delete from pgboss.job where name = 'proof'`);
  around.pages['/contents/.deckhand.yml'] = {
    encoding: 'base64',
    content: Buffer.from('prove: all\n').toString('base64'),
  };
  await sweep();
  expect([await jobs(), latest(sha)]).toEqual([[], expect.any(String)]);
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
