import { type Place, placeOfRepository } from '../../../src/github/app/place.ts';
import { proveMissed } from '../../../src/github/follow/prove-pulls.ts';
import { holdHead } from '../../../src/github/inbox/hold-head.ts';
import { isOfStranger } from '../../../src/github/inbox/of-stranger.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, asked } from '../../support/stand-ins/named-github.ts';
import { ada, eve, head, ofTask, place, proofsOfHead, pullOf } from '../mirror/proofs-of-head.ts';

const acme = openAcme();
const isStrange = async (payload: object) => {
  const { em } = await acme.twoPeople();
  return isOfStranger(em, { ...place, ...payload });
};
const pull = (author_association: string, user = eve) => ({
  ...{ action: 'synchronize', sender: user },
  pull_request: { ...pullOf({ number: 7, user }), author_association },
});

test.each([
  ['a pull request from a fork', pull('NONE'), true],
  ['that of a collaborator', pull('COLLABORATOR'), false],
  ['one from a branch here', pull('NONE', ada), false],
  ['one that somebody else has labeled', { ...pull('NONE'), sender: ada }, false],
  ['a push to it by another account', { ...pull('NONE'), sender: { ...eve, id: 501 } }, true],
  ['a comment', { sender: eve, comment: { user: eve, author_association: 'CONTRIBUTOR' } }, false],
  ['a push', { sender: eve, ref: 'refs/heads/main' }, false],
])('%s', async (_name, payload, expected) => {
  expect(await isStrange(payload)).toBe(expected);
});

test('a member of the project is no stranger, even if GitHub does not show it', async () => {
  const { em, projectId } = await acme.twoPeople();
  await em.query(`insert into users (id, github_id, login) values ('user_eve', 500, 'eve') on conflict do nothing`);
  await em.query(
    `insert into members (project_id, user_id, role) select $1, id, 'viewer' from users where github_id = 500`,
    [projectId],
  );
  expect(await isOfStranger(em, { ...place, ...pull('NONE') })).toBe(false);
  await em.query(`delete from members where user_id in (select id from users where github_id = 500)`);
});

let hour = 1;
const headersOf = (left: number) => ({
  ...{ 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': String(left), 'x-ratelimit-resource': 'core' },
  'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + hour * 3600),
});
/** Headers of an answer in the next hour. */
function fresh() {
  hour += 1;
  return headersOf(100);
}

/** Strangers have used their part of GitHub's hour. */
function spendAll() {
  const headers = headersOf(90);
  const { githubQuota } = acme.service.app.metrics;
  for (let i = 0; i < 10; i++) githubQuota.note(1, headers, { repository: 'acme/app', isOfStranger: true });
}

describe('while strangers have used their part, a commit that is proved for another branch may not be merged', () => {
  const waits = /^action_required: Pull request #8: Waits for somebody with write permission/;
  async function proved(isJudged = true) {
    const given = await proofsOfHead(acme);
    acme.service.app.metrics.githubQuota.note(1, fresh(), {});
    await given.told('opened', { number: 7, base: 'side' });
    if (isJudged) await given.judge(7, 'no_tests');
    expect(given.latest()).toMatch(isJudged ? /^neutral/ : /^queued/);
    spendAll();
    const tell = async (action: string, more: object = {}) => {
      const eves = pullOf({ number: 8, user: eve, ...more });
      around.pages['/pulls/8'] = eves;
      const payload = { action, number: 8, sender: eve, ...place };
      const event = { ...payload, pull_request: { ...eves, author_association: 'NONE' } };
      const told = acme.service.app.github?.receive({
        id: `${Math.random()}`,
        name: 'pull_request',
        payload: event,
      } as never);
      await expect(told).rejects.toThrow();
      await given.mirror(7);
    };
    return { ...given, tell };
  }

  test('with a new pull request', async () => {
    const { tell, latest } = await proved();
    await tell('opened');
    expect(latest()).toMatch(waits);
  });

  test('with one that is opened while the commit is being proved', async () => {
    const { judge, tell, latest } = await proved(false);
    await tell('opened');
    await judge(7, 'no_tests');
    expect(latest()).toMatch(waits);
  });

  test('with one that gets the commit', async () => {
    const { em, own, tell, latest } = await proved();
    await tell('opened', { sha: 'b'.repeat(40) });
    expect(await em.query('select from pull_proofs where number = 8 and repository_id = $1', [own.id])).toEqual([]);
    await tell('synchronize');
    expect(latest()).toMatch(waits);
    // The same again costs nothing.
    await em.query(`delete from pgboss.job where name = 'proofCheck'`);
    await tell('synchronize');
    expect(await em.query(`select from pgboss.job where name = 'proofCheck'`)).toEqual([]);
  });

  test('when a comparison finds it', async () => {
    const { em, own, mirror, latest } = await proved();
    around.pages['/pulls/8'] = pullOf({ number: 8, user: eve });
    around.pages['/pulls'] = [pullOf({ number: 7, base: 'side' }), pullOf({ number: 8, user: eve })];
    await em.query("update pull_proofs set created_at = now() - interval '1 hour'");
    const there = (await placeOfRepository(acme.service.app, own.id)) as Place;
    await proveMissed(acme.service.app, there, () => false);
    await mirror(7);
    expect(latest()).toMatch(waits);
    // It is looked at once strangers may ask again, although no comparison finds it a second time.
    const jobs: object[] = await em.query(`select data from pgboss.job where name = 'proof' and start_after > now()`);
    expect(jobs).toEqual([{ data: { repositoryId: own.id, number: 8, isOfStranger: true } }]);
  });
});

/** Eve gives her pull request another base branch. The event waits, because strangers have used their part. */
async function retargeted(number: number, base: string) {
  const eves = pullOf({ number, base, user: eve });
  around.pages[`/pulls/${number}`] = eves;
  const about = { action: 'edited', number, sender: eve, changes: { base: { ref: { from: 'before' } } } };
  const payload = { ...place, ...about, pull_request: { ...eves, author_association: 'NONE' } };
  const event = { id: `${Math.random()}`, name: 'pull_request', payload };
  await expect(acme.service.app.github?.receive(event as never)).rejects.toThrow();
}

test.each([
  'required',
  'true',
] as const)("while strangers' events wait, what was proved of their pull request is taken back once when its base changes (%s)", async (everyone) => {
  const { em, told, judge, mirror, latest } = await proofsOfHead(acme, everyone);
  acme.service.app.metrics.githubQuota.note(1, fresh(), {});
  await told('opened', { number: 7, base: 'side', user: eve });
  await judge(7, 'no_tests');
  expect(latest()).toMatch(/^neutral: Not proved by tests/);
  spendAll();
  const retarget = (base: string) => retargeted(7, base);
  await retarget('main');
  await mirror(7);
  expect(latest()).toMatch(/: This commit was not proved for its base branch/);
  for (const base of ['side', 'main']) await retarget(base);
  expect(await em.query(`select from pgboss.job where name = 'proofCheck'`)).toEqual([]);
});

test('a stranger who changes the branch of a pull request again and again costs one look a minute', async () => {
  const { em, opened, told, latest } = await proofsOfHead(acme);
  acme.service.app.metrics.githubQuota.note(1, fresh(), {});
  await opened({ number: 7 }, 'proved');
  await told('opened', { number: 8, base: 'side', user: eve });
  const shown = latest();
  spendAll();
  const retarget = (base: string) => retargeted(8, base);
  for (const base of ['other', 'side', 'other']) await retarget(base);
  const jobs = `delete from pgboss.job where name = 'proofCheck' returning start_after > now() + interval '50 seconds' as "isLater"`;
  expect((await em.query(jobs))[0]).toEqual([{ isLater: true }]);
  expect(shown).toMatch(/Its tests fail without it/);
  // The first change after a while is looked at once, because the branch may be one that requires the check.
  await em.query(`update pull_proofs set created_at = now() - interval '2 minutes' where number = 8`);
  await retarget('main');
  expect((await em.query(jobs))[0]).toEqual([{ isLater: false }]);
});

describe('while a repository has used up its part, a commit that is proved for another branch may not be merged', () => {
  async function busy() {
    const { githubQuota } = acme.service.app.metrics;
    githubQuota.note(1, fresh());
    const headers = { ...headersOf(750), 'x-ratelimit-limit': '5000' };
    const given = await proofsOfHead(acme);
    await given.opened({ number: 7, base: 'side' }, 'no_tests');
    expect(given.latest()).toMatch(/^neutral/);
    for (let i = 0; i < 200; i++) githubQuota.note(1, headers, { repository: 'acme/app' });
    const tell = async (action: string, pull: Parameters<typeof pullOf>[0], changes?: object) => {
      around.pages[`/pulls/${pull.number}`] = pullOf(pull);
      const payload = { action, number: pull.number, sender: ada, ...place, changes, pull_request: pullOf(pull) };
      const event = { id: `${Math.random()}`, name: 'pull_request', payload };
      await expect(acme.service.app.github?.receive(event as never)).rejects.toThrow();
      await given.mirror(7);
    };
    return { ...given, tell };
  }

  test('in a new pull request of a writer', async () => {
    const { tell, latest } = await busy();
    await tell('opened', { number: 8 });
    expect(latest()).toMatch(/^action_required: Pull request #8: The proof by tests did not run/);
  });

  test('when the proved one goes into another branch', async () => {
    const { tell, latest } = await busy();
    await tell('edited', { number: 7 }, { base: { ref: { from: 'side' } } });
    expect(latest()).toMatch(/^action_required/);
  });
});

test('an event that comes late takes nothing back from the head that came after it', async () => {
  const { opened, told, judge, mirror, latest } = await proofsOfHead(acme);
  acme.service.app.metrics.githubQuota.note(1, fresh());
  const later = 'b'.repeat(40);
  await opened({ number: 7, base: 'side' }, 'no_tests');
  await opened({ number: 8 }, 'no_tests');
  await told('synchronize', { number: 8, sha: later });
  await judge(8, 'proved', later);
  const shown = latest(later);
  const late = { ...pullOf({ number: 8 }), updated_at: '2020-01-01T00:00:00Z' };
  await holdHead(acme.service.app, { ...place, pull_request: late });
  await mirror(7, 8);
  expect([shown, latest(later)]).toEqual([expect.stringMatching(/^neutral/), shown]);
});

test('an event of a stranger waits for the next hour when strangers have used their part, others do not', async () => {
  await acme.twoPeople();
  const { app } = acme.service;
  spendAll();
  around.pages['/pulls/7'] = pullOf({ number: 7, user: eve });
  const told = (payload: object) =>
    app.github?.receive({
      id: `${Math.random()}`,
      name: 'pull_request',
      payload: { ...place, number: 7, ...payload },
    } as never);
  asked.length = 0;
  await expect(told(pull('NONE'))).rejects.toThrow();
  expect(asked).toEqual([]);
  await told(pull('COLLABORATOR'));
});

test("what a stranger's pull request collides with is looked at as a stranger asks, and not when its title changes", async () => {
  const given = await proofsOfHead(acme);
  acme.service.app.metrics.githubQuota.note(1, fresh(), {});
  await (await ofTask(acme, given)).isAt(head);
  await given.told('opened', { number: 8 });
  const jobs = `delete from pgboss.job where name = 'collisions' returning data`;
  await given.em.query(jobs);
  const tell = async (action: string, more: object) => {
    around.pages['/pulls/8'] = pullOf({ number: 8, user: eve });
    const about = { ...pull('NONE'), ...place, action, number: 8, ...more };
    const payload = { ...about, pull_request: { ...pullOf({ number: 8, user: eve }), author_association: 'NONE' } };
    const event = { id: `${Math.random()}`, name: 'pull_request', payload };
    await acme.service.app.github?.receive(event as never);
    const [rows]: [{ data: object }[]] = await given.em.query(jobs);
    return rows.map(({ data }) => data);
  };
  const asked = [{ repositoryId: given.own.id, number: 8, isOfStranger: true }];
  expect(await tell('edited', { changes: { title: { from: 'x' } } })).toEqual([]);
  expect(await tell('edited', { changes: { base: { ref: { from: 'x' } } } })).toEqual(asked);
  expect(await tell('synchronize', {})).toEqual(asked);
});
