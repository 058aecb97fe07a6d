import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, asked, looked } from '../../support/stand-ins/named-github.ts';
import { eve, proofsOfHead, settingsSay } from './proofs-of-head.ts';

// Many pull requests of one commit, of writers and of strangers, hide nothing, hold nothing up and cost few requests.

const acme = openAcme();
const required = (everyone?: 'required' | 'true') => proofsOfHead(acme, everyone);

const weakened = /^failure: Pull request #7: Tests were weakened/;

/** The requests about pull requests and rules, one of GraphQL about several. */
const aboutPulls = () =>
  looked.filter((path) => /\/(pulls|rules)\//.test(path)).length +
  asked.filter(({ path }) => path === '/graphql').length;

test('neither many other pull requests of the commit nor many other heads hide weakened tests', async () => {
  const { told, judge, opened, latest } = await required();
  await opened({ number: 7 }, 'weakened');
  for (let number = 8; number < 30; number++) await opened({ number, base: `side-${number}` }, 'no_tests');
  expect(latest()).toMatch(weakened);
  for (let i = 10; i < 21; i++) {
    await told('synchronize', { number: 7, sha: String(i).repeat(20) });
  }
  expect(latest()).toMatch(/^neutral/);
  await told('synchronize', { number: 7 });
  expect(latest()).toMatch(/^queued: .*Waits for its turn/);
  await judge(7, 'weakened');
  expect(latest()).toMatch(weakened);
}, 60_000);

test('many pull requests of a stranger with the same heads cost few requests', async () => {
  const { told } = await required();
  const heads = ['c', 'd', 'e'].map((letter) => letter.repeat(40));
  for (const sha of heads)
    for (let number = 20; number < 32; number++) await told('synchronize', { number, user: eve, sha });
  looked.length = 0;
  await told('synchronize', { number: 20, user: eve, sha: heads[0] ?? '' });
  expect(looked.filter((path) => path.includes('/pulls/')).length).toBeLessThan(5);
});

test('each of many pull requests of one head costs as few requests as one', async () => {
  const { opened, mirror, latest } = await required();
  await opened({ number: 7 }, 'proved');
  for (let number = 20; number < 45; number++) await opened({ number }, number === 30 ? 'weakened' : 'proved');
  looked.length = 0;
  await mirror(7);
  expect([aboutPulls(), latest()]).toEqual([1, expect.stringMatching(/^failure: Pull request #30: Tests were/)]);
  // GitHub names a pull request that is gone beside the others.
  delete around.pages['/pulls/30'];
  await mirror(7);
  expect(latest()).toMatch(/^neutral: Pull request #\d+: Its tests fail/);
});

test("closed pull requests of a stranger with a writer's commit hold nothing up, and cost no requests", async () => {
  const { em, told, opened, latest, mirror } = await required();
  await opened({ number: 7 }, 'proved');
  for (let number = 100; number < 151; number++) {
    await told('opened', { number, user: eve });
    await told('closed', { number, user: eve, state: 'closed' });
  }
  looked.length = 0;
  await mirror(7);
  expect([aboutPulls(), latest()]).toEqual([1, expect.stringMatching(/^neutral: Pull request #7: Its tests fail/)]);
  await told('reopened', { number: 120, user: eve });
  expect(latest()).toMatch(/^neutral: Pull request #7/);
  expect(aboutPulls()).toBeLessThan(10);
  // Once the writer's is closed, the one that is open again counts.
  await told('closed', { number: 7, state: 'closed' });
  expect(latest()).toBe('action_required: Pull request #120: Waits for somebody with write permission');
  expect(await em.query('select count(*)::int as count from pull_proofs where not is_foreign')).toEqual([{ count: 1 }]);
});

test("a stranger's pull requests into many branches that require nothing hold nothing up, and one that does is found", async () => {
  const { told, opened, latest, mirror } = await required();
  await opened({ number: 7, base: 'side' }, 'proved');
  for (let number = 100; number < 120; number++) {
    looked.length = 0;
    await told('opened', { number, user: eve, base: `side-${number}` });
    expect(aboutPulls()).toBeLessThan(15);
  }
  await mirror(7);
  expect(latest()).toMatch(/^neutral: Pull request #7/);
  around.pages['/rules/branches/release'] = [
    { type: 'required_status_checks', parameters: { required_status_checks: [{ context: 'Deckhand proof' }] } },
  ];
  await told('opened', { number: 120, user: eve, base: 'release' });
  expect(latest()).toBe('action_required: Pull request #120: Waits for somebody with write permission');
  for (let times = 0; times < 8; times++) await mirror(7);
  expect(latest()).toBe('action_required: Pull request #120: Waits for somebody with write permission');
  await told('closed', { number: 120, user: eve, base: 'release', state: 'closed' });
  expect(latest()).toMatch(/^neutral: Pull request #7/);
  delete around.pages['/rules/branches/release'];
});

test('while the settings cannot be used, pull requests of a stranger hold nothing up either', async () => {
  const { told, opened, latest, mirror } = await required();
  await opened({ number: 7 }, 'proved');
  settingsSay('everybody');
  for (let number = 100; number < 152; number++) await told('opened', { number, user: eve });
  looked.length = 0;
  await mirror(7);
  expect([aboutPulls(), latest()]).toEqual([1, expect.stringMatching(/^neutral: Pull request #7: Its tests fail/)]);
  // Its head is as unseen after it was closed and opened again.
  await told('closed', { number: 100, user: eve, state: 'closed' });
  await told('closed', { number: 7, state: 'closed' });
  for (let number = 101; number < 152; number++) await told('closed', { number, user: eve, state: 'closed' });
  await told('reopened', { number: 100, user: eve });
  expect(latest()).toMatch(/^action_required: Pull request #100: /);
});
