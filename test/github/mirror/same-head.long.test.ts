import { type Place, placeOfRepository } from '../../../src/github/app/place.ts';
import { proveAgainJob, proveMissed } from '../../../src/github/follow/prove-pulls.ts';
import { askForProof } from '../../../src/runs/pull-proofs/ask-proof.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, asked } from '../../support/stand-ins/named-github.ts';
import { ada, eve, head, ofTask, place, proofsOfHead, pullOf, settingsSay } from './proofs-of-head.ts';

// GitHub counts the latest check run of a name for every pull request of a commit.

const acme = openAcme();
const required = (everyone?: 'required' | 'true') => proofsOfHead(acme, everyone);

const weakened = /^failure: Pull request #7: Tests were weakened/;

test('weakened tests fail the check run of a commit until their pull request has another head or is closed', async () => {
  const { told, judge, opened, latest } = await required();
  await opened({ number: 7 }, 'weakened');
  expect(latest()).toMatch(/^failure: Tests were weakened/);
  await opened({ number: 8, base: 'side' }, 'no_tests');
  expect(latest()).toMatch(weakened);
  await told('closed', { number: 7, state: 'closed' });
  expect(latest()).toMatch(/^neutral: Pull request #8: Not proved by tests/);
  await told('reopened', { number: 7 });
  // Its base branch may have taken in commits of it.
  expect(latest()).toMatch(/^queued: .*Waits for its turn/);
  await judge(7, 'weakened');
  expect(latest()).toMatch(weakened);
  await told('synchronize', { number: 7, sha: 'b'.repeat(40) });
  expect(latest()).toMatch(/^neutral: Not proved by tests/);
});

test('a proof that another pull request of the commit waits for is waited for', async () => {
  const { told, judge, opened, latest } = await required();
  await opened({ number: 7 }, 'proved');
  await told('opened', { number: 8 });
  expect(latest()).toBe('queued: Pull request #8: Waits for its turn');
  await judge(8, 'weakened');
  expect(latest()).toMatch(/^failure: Pull request #8/);
  await judge(8, 'changed');
  expect(latest()).toMatch(/^neutral: Pull request #8: Expectations changed/);
});

test('closed pull requests from a time when nothing was required hide no weakened tests', async () => {
  const { em, own, projectId, opened, latest } = await required();
  const many = 'generate_series(1001, 1250) n';
  await em.query(
    `insert into tasks (id, project_id, title, status, repository_id, hidden) select 'task_' || n, $1, 't', 'done', $2, true from ${many}`,
    [projectId, own.id],
  );
  await em.query(
    `insert into reviewed_pulls (task_id, repository_id, number, purpose) select 'task_' || n, $1, n, 'proof' from ${many}`,
    [own.id],
  );
  await em.query(
    `insert into pull_proofs (id, repository_id, number, head_sha, is_required, base_branch, status, at)
     select 'proof_0' || n, $1, n, $2, false, 'side' || n, 'not_run', now() from ${many}`,
    [own.id, head],
  );
  for (let number = 1001; number <= 1250; number++)
    around.pages[`/pulls/${number}`] = pullOf({ number, state: 'closed' });
  await opened({ number: 7 }, 'weakened');
  expect(latest()).toMatch(weakened);
});

test('what a person pushes to the branch of a task is proved, and another pull request of it says nothing else', async () => {
  const given = await required();
  const { told, judge, opened, latest } = given;
  const task = await ofTask(acme, given);
  await task.isAt(head);
  around.pages['/pulls/7'] = pullOf({ number: 7 });
  await opened({ number: 8, base: 'side' }, 'no_tests');
  expect(latest()).toBe('action_required: Pull request #7: This commit was not proved for its base branch');

  const pushed = 'b'.repeat(40);
  await task.isAt(pushed);
  // Anybody can name the service as the author of a commit.
  const email = `${task.user.id}+${task.user.login}@users.noreply.github.com`;
  around.pages[`/git/commits/${pushed}`] = { sha: pushed, author: { email }, parents: [] };
  await told('synchronize', { number: 7, sha: pushed, user: task.user });
  expect(latest(pushed)).toBe('queued: Waits for its turn');
  await judge(7, 'weakened', pushed);
  expect(latest(pushed)).toMatch(/^failure: Tests were weakened/);
});

test("what a person had proved of a task's pull request for another base counts no longer", async () => {
  const given = await required();
  const { own, ids, told, judge, latest, mirror } = given;
  const task = await ofTask(acme, given);
  await task.isMade(head, 'weakened', 'main');
  await task.isAt(head, 'side');
  await told('edited', { number: 7, base: 'side', user: task.user });
  await askForProof(acme.service.app, { repository: own, number: 7, askedBy: ids.ada });
  await judge(7, 'no_tests');
  expect(latest()).toMatch(/^neutral: Not proved by tests/);
  await task.isAt(head, 'main');
  await told('edited', { number: 7, user: task.user }, { base: { ref: { from: 'side' }, sha: { from: '0' } } });
  expect(latest()).toMatch(/^failure: Tests were weakened/);
  await task.isAt(head, 'other');
  await mirror(7);
  expect(latest()).toMatch(/^action_required: This commit was not proved for its base branch/);
});

test('a proof for one base counts for no other, whatever base is stored', async () => {
  const given = await required();
  const { told, opened, latest, mirror } = given;
  const task = await ofTask(acme, given);
  await task.isMade(head, 'proved', 'main');
  await task.isAt(head, 'main');
  around.pages['/pulls/7'] = pullOf({ number: 7, user: task.user });
  await opened({ number: 8, base: 'side' }, 'no_tests');
  expect(latest()).toMatch(/^neutral: Pull request #8/);
  // Somebody moves the task's pull request on GitHub, and the base that was agreed stays.
  await told('edited', { number: 7, base: 'release', user: task.user });
  await mirror(8);
  expect(latest()).toBe('action_required: Pull request #7: This commit was not proved for its base branch');
});

test('weakened tests fail once the repository requires it and the pull request is reopened', async () => {
  const { told, judge, opened, latest } = await required('true');
  await opened({ number: 7 }, 'weakened');
  expect(latest()).toMatch(/^neutral: Tests were weakened/);
  settingsSay('required');
  await told('reopened', { number: 7 });
  await judge(7, 'weakened');
  expect(latest()).toMatch(/^failure: Tests were weakened/);
});

test("a stranger who opens pull requests of a writer's commit holds nothing up and runs nothing", async () => {
  const { em, told, judge, opened, latest, mirror } = await required();
  await told('opened', { number: 6, user: eve });
  await opened({ number: 7 }, 'proved');
  for (let number = 8; number < 16; number++) await told('opened', { number, user: eve, base: 'gh-pages' });
  expect(latest()).toMatch(/^neutral: Pull request #7: Its tests fail without it/);
  expect(await em.query('select number from pull_asks')).toEqual([{ number: 7 }]);
  // Once the writer's is closed, a stranger's waits for a word, and once that is given, it counts.
  await told('closed', { number: 7, state: 'closed' });
  expect(latest()).toMatch(/^action_required: Pull request #\d+: Waits for somebody with write permission$/);
  await told('reopened', { number: 7 });
  await judge(7, 'no_tests');
  expect(latest()).toMatch(/^neutral: Pull request #7/);
  await judge(8, 'weakened');
  await mirror(7);
  expect(latest()).toMatch(/^failure: Pull request #8/);
});

test("a stranger's pull request holds up a commit that was proved for another branch, where that requires it", async () => {
  const { told, opened, latest, mirror } = await required();
  await opened({ number: 7, base: 'side' }, 'no_tests');
  await told('opened', { number: 8, user: eve, base: 'gh-pages' });
  await mirror(7);
  expect(latest()).toMatch(/^neutral: Pull request #7/);
  await told('opened', { number: 9, user: eve });
  expect(latest()).toBe('action_required: Pull request #9: Waits for somebody with write permission');
  await told('closed', { number: 9, user: eve, state: 'closed' });
  expect(latest()).toMatch(/^neutral: Pull request #7/);
  around.pages['/rules/branches/gh-pages'] = [
    { type: 'required_status_checks', parameters: { required_status_checks: [{ context: 'Deckhand proof' }] } },
  ];
  await mirror(8);
  expect(latest()).toBe('action_required: Pull request #8: Waits for somebody with write permission');
  delete around.pages['/rules/branches/gh-pages'];
});

test('a change that prevents its proof may not be merged where proofs are required', async () => {
  const { opened, latest } = await required();
  await opened({ number: 7 }, 'not_run');
  expect(latest()).toMatch(/^action_required: The proof by tests did not run/);
});

describe('when an admin changes the settings on the default branch', () => {
  const [before, after] = ['1'.repeat(40), '2'.repeat(40)];
  const say = (text: string) => {
    around.pages['/contents/.deckhand.yml'] = { encoding: 'base64', content: Buffer.from(text).toString('base64') };
  };
  const pushed = async (is: string) => {
    say(is);
    around.pages['/pulls'] = listed();
    const repository = { ...place.repository, default_branch: 'main' };
    const about = { ...place, repository, sender: ada };
    const payload = { ref: 'refs/heads/main', before, after, deleted: false, commits: [], ...about };
    await acme.service.app.github?.receive({ id: `${Math.random()}`, name: 'push', payload } as never);
  };
  const repositoryId = async (): Promise<string> =>
    (await acme.service.app.db.manager.query('select repository_id as id from pull_proofs limit 1'))[0].id;
  const listed = () => {
    const { merged: _, ...pull } = pullOf({ number: 7 });
    return [pull];
  };
  const optional = 'checks: [node --test]\nprove: { everyone: true }\n';
  const strict = 'checks: [node --test]\nprove: { everyone: required }\n';

  test.each([
    ['weakened tests fail from now on', optional, strict],
    ['other checks run', strict.replace('node --test', 'true'), strict],
  ])('open pull requests are proved again: %s', async (_what, was, is) => {
    const { opened, judge, mirror, latest } = await required('true');
    say(was);
    await opened({ number: 7 }, 'weakened');
    const shown = latest();
    await pushed(is);
    await mirror(7);
    expect([shown, latest()]).toEqual([
      expect.stringContaining('Tests were weakened'),
      expect.stringMatching(/Not proved|the settings have changed/i),
    ]);
    await proveAgainJob(acme.service.app, { repositoryId: await repositoryId(), number: 7 });
    await mirror(7);
    expect(latest()).toMatch(/^(queued|in_progress)/);
    await judge(7, 'weakened');
    expect(latest()).toMatch(/^failure: Tests were weakened/);
  });

  test('nothing happens after a push that changes no setting for proofs', async () => {
    const { opened, mirror, latest } = await required();
    say(strict);
    await opened({ number: 7 }, 'proved');
    const was = latest();
    await pushed(`${strict}review: everyone\n`);
    await mirror(7);
    expect(latest()).toBe(was);
  });

  test('the next comparison with GitHub notices a stricter rule whose event was lost', async () => {
    const { opened, mirror, latest } = await required('true');
    await opened({ number: 7 }, 'weakened');
    settingsSay('required');
    around.pages['/pulls'] = listed();
    const id = await repositoryId();
    const found = await placeOfRepository(acme.service.app, id);
    await proveMissed(acme.service.app, found as Place, () => false);
    await proveAgainJob(acme.service.app, { repositoryId: id, number: 7 });
    await mirror(7);
    expect(latest()).toMatch(/^(queued|in_progress)/);
    // And no more once that is so.
    asked.length = 0;
    await proveMissed(acme.service.app, found as Place, () => false);
    expect(asked.filter(({ path }) => path !== '/graphql')).toEqual([]);
  });
});
