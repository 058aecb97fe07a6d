import { type Place, placeOfRepository } from '../../../src/github/app/place.ts';
import { handleCommands } from '../../../src/github/commands/handle-commands.ts';
import { refreshPull } from '../../../src/github/follow/refresh-pull.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, asked, shown } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();
const number = 62;
const prUrl = 'https://github.com/acme/app/pull/62';
/** GitHub's clock is years behind ours. */
const at = (second: number) => new Date(Date.UTC(2020, 0, 1, 12, 0, second));

/** A task of ada's in review. `push` changes the head of its pull request at a second of GitHub's clock. */
async function inReview() {
  const people = await acme.twoPeople();
  const { em, own, task } = people;
  const id = await task('ada');
  await em.query('delete from handled_commands');
  await em.query(`update tasks set status = 'in_review' where id = $1`, [id]);
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     values ($1, $2, $3, $4, 'open', 'agent/x', 'none')`,
    [id, own.id, number, prUrl],
  );
  const place = (await placeOfRepository(acme.service.app, own.id)) as Place;
  const push = async (sha: string, second: number, isPushed = false, base = 'main') => {
    around.clock = at(second);
    around.pages[`/pulls/${number}`] = {
      ...{ number, state: 'open', merged_at: null, mergeable: true, additions: 1 },
      ...{ head: { sha, ref: 'agent/x' }, base: { sha: 'base', ref: base } },
    };
    await refreshPull(acme.service.app, place.octokit, place.name, { repositoryId: own.id, number }, { isPushed });
  };
  const command = (second: number) =>
    acme.say(400, 'ada', '/agent merge', number, at(second), { isPull: true, body: `${second}` });
  const outcome = async () => {
    const [row] = await em.query('select notice from mirrored where task_id = $1', [id]);
    await em.query('delete from handled_commands');
    const merged = asked.filter(({ path }) => path.endsWith('/merge')).map(({ body }) => body.sha);
    asked.length = 0;
    return { merged, said: row?.notice as string };
  };
  return { ...people, id, push, command, outcome };
}

test('a merge counts for the head that GitHub showed when it was written, whatever our clock shows', async () => {
  const { push, command, outcome } = await inReview();
  await push('seen', 10);
  await command(11);
  expect((await outcome()).merged).toEqual(['seen']);
});

test.each([5, 20])('a head that came after the command, or in its second (at %i), is not merged', async (second) => {
  const { push, command, outcome } = await inReview();
  await push('seen', 1);
  await push('unseen', 20);
  await command(second);
  expect(await outcome()).toEqual({
    merged: [],
    said: expect.stringContaining(`The head of ${prUrl} changed after this command was written.`),
  });
  await command(21);
  expect((await outcome()).merged).toEqual(['unseen']);
});

test('nothing is merged into another branch than the one for which the pull request was opened', async () => {
  const { push, command, outcome } = await inReview();
  await push('seen', 10, false, 'release');
  await command(11);
  expect(await outcome()).toEqual({
    merged: [],
    said: expect.stringContaining(`${prUrl} goes to the branch release now, not to main.`),
  });
});

test('a head that was another one in between counts from its return', async () => {
  const { push, command, outcome } = await inReview();
  await push('first', 1);
  await push('first', 30, true);
  await command(25);
  expect((await outcome()).merged).toEqual([]);
});

test('reading the same head again does not change since when it is there', async () => {
  const { push, command, outcome } = await inReview();
  await push('first', 1);
  await push('first', 30);
  await command(25);
  expect((await outcome()).merged).toEqual(['first']);
});

test('a command whose event was lost merges nothing', async () => {
  const { push, outcome } = await inReview();
  await push('seen', 10);
  await handleCommands(acme.service.app, {
    installationId: 1,
    repository: { id: 1, private: true, full_name: 'acme/app' },
    issue: { number, title: 'An issue', body: '', url: 'u', isPull: true },
    sender: shown(400, 'ada'),
    body: '/agent merge',
    commentId: 1,
    writtenAt: at(11).toISOString(),
    isMissed: true,
  });
  expect(await outcome()).toEqual({ merged: [], said: expect.stringContaining('This command reached us late.') });
});

test('the API merges only the heads that its caller looked at', async () => {
  const { call, id, push, outcome } = await inReview();
  await push('b', 10);
  const merge = (heads: object) => call('ada', 'POST', `/tasks/${id}/merge`, { heads });
  for (const heads of [[], [{ prUrl, headSha: 'a' }], [{ prUrl: 'another', headSha: 'b' }]]) {
    const { status, body } = await merge(heads);
    expect([status, body.message]).toEqual([
      409,
      `The head of ${prUrl} is not the commit that you looked at. Look at the changes, then merge again.`,
    ]);
  }
  expect((await outcome()).merged).toEqual([]);
  await merge([{ prUrl, headSha: 'b' }]);
  expect((await outcome()).merged).toEqual(['b']);
});

/** Gives the repository these settings. */
const settle = (text: string) => {
  const content = Buffer.from(text).toString('base64');
  around.pages['/contents/.deckhand.yml'] = { type: 'file', encoding: 'base64', content };
};

test.each([
  ['merge: { method: rebase }', [], ['rebase']],
  ['merge: { method: merge }', ['Merge commits are not allowed on this repository.'], ['merge', 'squash']],
  ['', ['Squash merges are not allowed on this repository.'], ['squash', 'merge']],
])('with the settings %j and the refusals %j, the methods %j are tried', async (text, refusals, methods) => {
  const { call, id, push } = await inReview();
  settle(text);
  await push('b', 10);
  asked.length = 0;
  around.merges = refusals.map((message) => ({ status: 405, message }));
  expect((await call('ada', 'POST', `/tasks/${id}/merge`)).status).toBe(200);
  const tries = asked.filter(({ path }) => path.endsWith('/merge')).map(({ body }) => body);
  // GitHub takes title and message as the repository says, if none are given.
  expect(tries).toEqual(methods.map((merge_method) => ({ sha: 'b', merge_method })));
});

test('settings that cannot be used merge nothing', async () => {
  const { call, id, push, outcome } = await inReview();
  settle('merge: never');
  await push('b', 10);
  const { status, body } = await call('ada', 'POST', `/tasks/${id}/merge`);
  expect([status, body.message]).toEqual([
    409,
    expect.stringMatching(/^\.deckhand\.yml cannot be used in the repository app: .* merge: must contain/),
  ]);
  expect((await outcome()).merged).toEqual([]);
});

test('with `approve: others`, who started the task does not merge it, and others do', async () => {
  const { call, em, id, ids, projectId, push, command, outcome } = await inReview();
  settle('approve: others');
  await em.query(
    `insert into runs (id, task_id, project_id, kind, status, started_by, finished_at)
     values ('run_others', $1, $2, 'start', 'succeeded', $3, now())`,
    [id, projectId, ids.ada],
  );
  await push('b', 10);
  const { status, body } = await call('ada', 'POST', `/tasks/${id}/merge`);
  expect([status, body.message]).toEqual([
    403,
    expect.stringMatching(/^You started this task, .*: you cannot merge it\./),
  ]);
  await command(11);
  expect(await outcome()).toEqual({ merged: [], said: expect.stringContaining('you cannot merge it') });
  expect((await call('bob', 'POST', `/tasks/${id}/merge`)).status).toBe(200);
});

const moved = { status: 405, message: 'Base branch was modified. Review and try the merge again.' };

test.each([
  ['a base branch that moves is merged into again', [moved, moved], 3, null],
  ['a base branch that moves on and on is tried three times', [moved, moved, moved, moved], 3, moved.message],
  [
    'no other refusal is tried again',
    [{ status: 405, message: 'Pull Request is not mergeable' }],
    1,
    'is not mergeable',
  ],
] as const)('%s', async (_name, refusals, tries, reason) => {
  const { call, id, push, outcome } = await inReview();
  await push('b', 10);
  around.merges = [...refusals];
  const { status, body } = await call('ada', 'POST', `/tasks/${id}/merge`, { heads: [{ prUrl, headSha: 'b' }] });
  expect((await outcome()).merged).toEqual(Array(tries).fill('b'));
  expect([status, body.message ?? null]).toEqual(
    reason === null ? [200, null] : [409, expect.stringContaining(reason)],
  );
});

test.each([
  [405, 409],
  [502, 502],
])('a merge that GitHub answers with %i leaves no record, and the next one leaves one', async (refused, answered) => {
  const { call, em, id, push } = await inReview();
  const records = () => em.query(`select 1 from audit_records where object_id = $1 and action = 'task.merge'`, [id]);
  await push('b', 10);
  around.merges = [{ status: refused, message: 'Pull Request is not mergeable' }];
  expect((await call('ada', 'POST', `/tasks/${id}/merge`)).status).toBe(answered);
  expect(await records()).toEqual([]);
  expect((await call('ada', 'POST', `/tasks/${id}/merge`)).status).toBe(200);
  expect(await records()).toHaveLength(1);
});

test('a commit of an agent that was not ready is not merged when the branch returns to it, until it becomes ready', async () => {
  const { em, id, own, push, command, outcome } = await inReview();
  const store = (headSha: string, unreadySha: string | null) =>
    em.query(`update pull_requests set head_sha = $3, unready_sha = $4 where task_id = $1 and repository_id = $2`, [
      ...[id, own.id, headSha, unreadySha],
    ]);
  await push('unready', 10);
  await store('unready', 'unready');
  await store('ready', null);
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha, unready_sha)
     values ($1, $2, 63, 'u', 'closed', 'agent/y', 'of another', 'of another')`,
    [id, own.id],
  );
  await push('of another', 11);
  await command(12);
  expect((await outcome()).merged).toEqual([]);
  await push('ready', 13);
  await push('unready', 13);
  await command(14);
  const { merged, said } = await outcome();
  expect(merged).toEqual([]);
  expect(said).toContain('is not ready');
  await push('ready', 15);
  await command(16);
  expect((await outcome()).merged).toEqual(['ready']);
  // A later run finds that the commit passes after all.
  await push('unready', 17);
  await store('unready', null);
  await push('ready', 18);
  await push('unready', 19);
  await command(20);
  expect((await outcome()).merged).toEqual(['unready']);
});

test('a commit that a run of another task made is not merged, although it was ready there', async () => {
  const { push, command, outcome } = await inReview();
  const bot = await acme.service.app.github?.bot();
  around.pages['/git/commits/checked'] = {
    sha: 'checked',
    author: { email: `${bot?.id}+${bot?.login}@users.noreply.github.com` },
    parents: [{ sha: 'base' }],
  };
  await push('checked', 10);
  await command(11);
  const { merged, said } = await outcome();
  expect(merged).toEqual([]);
  expect(said).toContain('was not checked for the branch');
});
