import { placeOfRepository } from '../../../src/github/app/place.ts';
import { keepComments } from '../../../src/github/diff/keep-comments.ts';
import { postRequests } from '../../../src/github/mirror/reviews/post-requests.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, asked, read } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();
const number = 62;
const reviews = `/repos/acme/app/pulls/${number}/reviews`;
const bot = { id: 41, login: 'deckhand[bot]' };

/** A task of ada's in review, whose change has line 2 of `a.ts`. */
async function inReview() {
  const people = await acme.twoPeople();
  const { em, own } = people;
  const id = await people.task('ada');
  await em.query(`update tasks set status = 'in_review' where id = $1`, [id]);
  await em.query(
    `insert into pull_requests (task_id, repository_id, number, url, status, head_branch, head_sha)
     values ($1, $2, $3, 'u', 'open', 'agent/x', 'none')`,
    [id, own.id, number],
  );
  await em.query(
    `insert into diffs (task_id, branch_name, base_branch, files, truncated, head_sha)
     values ($1, 'agent/x', 'main', '[{"path": "a.ts"}]', false, 'abc')`,
    [id],
  );
  around.pages[`/pulls/${number}/reviews`] = [];
  around.pages[`/pulls/${number}/comments`] = [];
  const said = 'x'.repeat(250);
  const comments = [
    { path: 'a.ts', line: 2, side: 'new', quote: said, text: `First @mona ${said}` },
    { path: 'a.ts', line: 2, side: 'new', text: 'Second' },
    { path: 'gone.ts', line: 7, side: 'old', text: 'Third' },
  ];
  const revise = (body: object) => people.call('ada', 'POST', `/tasks/${id}/revise`, body);
  const posted = () => asked.filter(({ path }) => path === reviews).map(({ body }) => body);
  const listed = async () => (await people.call('ada', 'GET', `/tasks/${id}/review-comments`)).body;
  return { ...people, id, said, comments, revise, posted, listed, post: () => postRequests(acme.service.app, id) };
}

test('a request of the dashboard is shown as a review with its comments, in the words of the App, once', async () => {
  const { em, id, said, comments, revise, posted, listed, post } = await inReview();
  expect((await revise({ text: 'Not yet.', comments })).status).toBe(200);
  const [{ instructions }] = await em.query('select instructions from runs where task_id = $1', [id]);
  // Each comment, with every word and the whole line.
  for (const part of [
    'Not yet.',
    `### a.ts:2\n> ${said}\n\nFirst @mona ${said}`,
    '### a.ts:2\nSecond',
    'gone.ts:7 (removed line)',
  ])
    expect(instructions).toContain(part);
  await post();
  const [review] = posted();
  expect(review).toMatchObject({ event: 'COMMENT', commit_id: 'abc' });
  expect(review?.body).toMatch(
    /^<!-- deckhand:request rev_.*-->\n\*\*ada\*\* requests changes in \[Deckhand\]\(.*\):\n\n> Not yet\./,
  );
  expect(review?.body).toContain('`gone.ts:7 (removed line)`\n\n> Third');
  expect(review?.comments).toEqual([
    expect.objectContaining({
      path: 'a.ts',
      line: 2,
      side: 'RIGHT',
      body: expect.stringContaining(`> First @\u2060mona ${said}`),
    }),
    expect.objectContaining({ path: 'a.ts', line: 2, body: expect.stringContaining('> Second') }),
  ]);
  await post();
  expect(posted()).toHaveLength(1);
  expect(
    (await listed()).map((each: { text: string; state: string; author: string }) => [each.state, each.author]),
  ).toEqual(Array.from({ length: 3 }, () => ['open', 'ada']));
});

test('after a lost answer, the review is found, and its comments are those of the person', async () => {
  const { em, id, comments, revise, posted, listed, post } = await inReview();
  await revise({ comments: comments.slice(1, 2) });
  around.writes[`POST ${reviews}`] = { status: 502, body: {} };
  await expect(post()).rejects.toMatchObject({ status: 502 });
  const [sent] = posted();
  const [line] = sent?.comments as { body: string }[];
  around.pages[`/pulls/${number}/reviews`] = [{ id: 9, user: bot, body: sent?.body }];
  around.pages[`/pulls/${number}/comments`] = [
    { ...{ id: 70, user: bot, body: line?.body, path: 'a.ts', line: 3, side: 'RIGHT', pull_request_review_id: 9 } },
  ];
  await post();
  expect(posted()).toHaveLength(1);
  expect(await em.query('select github_review_id::int as review from revisions where task_id = $1', [id])).toEqual([
    { review: 9 },
  ]);
  expect(await listed()).toMatchObject([{ author: 'ada', text: 'Second' }]);
  expect(await em.query('select thread_id::int as thread from review_comments where task_id = $1', [id])).toEqual([
    { thread: 70 },
  ]);
});

test('if GitHub does not show one of the lines, the review quotes all comments', async () => {
  const { comments, revise, posted, post } = await inReview();
  await revise({ text: 'Not yet.', comments: comments.slice(1, 2) });
  around.writes[`POST ${reviews}`] = { status: 422, body: { message: 'Unprocessable Entity' } };
  await post();
  expect(posted().map((body) => [(body.comments as object[]).length, String(body.body).includes('> Second')])).toEqual([
    [1, false],
    [0, true],
  ]);
});

test('a request is shown although somebody pushed by force, so that its commit is no longer in the pull request', async () => {
  const { revise, posted, post } = await inReview();
  await revise({ text: 'Not yet.' });
  around.writes[`POST ${reviews}`] = {
    status: 422,
    body: { message: 'The commitOID is not part of the pull request' },
  };
  await post();
  expect(posted().map((body) => [body.commit_id, String(body.body).includes('> Not yet.')])).toEqual([
    ['abc', true],
    [undefined, true],
  ]);
});

test('a request without text and comments is refused', async () => {
  const { revise } = await inReview();
  expect(await revise({})).toMatchObject({ status: 400, body: { errors: [{ path: 'text' }] } });
});

test('a comment of the App that somebody edited is not taken for one of another task', async () => {
  const { em, own, comments, revise, listed } = await inReview();
  await revise({ comments: comments.slice(1, 2) });
  const [mine] = await listed();
  const stolen = { id: 90, user: bot, body: `<!-- deckhand:comment ${mine.id} -->`, path: 'a.ts', line: 2 };
  around.pages[`/pulls/${number}/comments`] = [stolen];
  const place = await placeOfRepository(acme.service.app, own.id);
  if (place !== undefined)
    await keepComments(acme.service.app, place, { taskId: 'task_other', repositoryId: own.id, number });
  expect(await em.query('select github_id from review_comments where id = $1', [mine.id])).toEqual([
    { github_id: null },
  ]);
});

test('of many comments on lines, the newest 1,000 are read, and older ones stay as they are', async () => {
  const { em, id, own } = await inReview();
  const all = Array.from({ length: 1250 }, (_, i) => ({
    ...{ id: i + 1, user: { id: 300, login: 'bob' }, body: `comment ${i}`, path: 'a.ts', line: 2, side: 'RIGHT' },
    ...{ pull_request_review_id: 9, created_at: '2026-01-01T00:00:00Z' },
  }));
  const path = `/repos/acme/app/pulls/${number}/comments`;
  const show = (shown: object[]) => {
    const last = Math.ceil(shown.length / 100);
    const headers = { link: `<https://github.test${path}?page=${last}>; rel="last"` };
    for (let page = 1; page <= last; page++)
      around.reads[`${path}?per_page=100&page=${page}`] = {
        ...{ status: 200, headers, body: shown.slice((page - 1) * 100, page * 100) },
      };
  };
  const place = await placeOfRepository(acme.service.app, own.id);
  const keep = async () => place && keepComments(acme.service.app, place, { taskId: id, repositoryId: own.id, number });
  show(all.slice(0, 1));
  await keep();
  show(all);
  read.length = 0;
  await keep();
  expect(read.filter((each) => each.startsWith(path))).toHaveLength(11);
  const kept = () => em.query('select count(*)::int as count from review_comments where task_id = $1', [id]);
  expect(await kept()).toEqual([{ count: 951 }]);
  show(all.filter((_, i) => i !== 1200));
  await keep();
  expect(await kept()).toEqual([{ count: 950 }]);
});

test('an event of a comment on a line reads and writes that comment only, as GitHub has it now', async () => {
  const { em, id } = await inReview();
  const written = (commentId: number, more: object = {}) => ({
    ...{
      id: commentId,
      user: { id: 300, login: 'bob' },
      body: `comment ${commentId}`,
      path: 'a.ts',
      line: 2,
      side: 'RIGHT',
    },
    ...{ pull_request_review_id: 9, created_at: '2026-01-01T00:00:00Z', ...more },
  });
  around.pages[`/pulls/${number}/comments`] = Array.from({ length: 1000 }, (_, i) => written(i + 1));
  around.pages['/pulls/comments/1001'] = written(1001, { in_reply_to_id: 7, body: 'edited since' });
  const statements: string[] = [];
  const query = em.query.bind(em);
  em.query = (async (text: string, values?: unknown[]) => {
    if (text.includes('review_comments')) statements.push(text);
    return query(text, values);
  }) as typeof em.query;
  const tell = async (action: string, commentId: number) => {
    read.length = statements.length = 0;
    const payload = {
      ...{
        action,
        installation: { id: 1 },
        repository: { id: 1, full_name: 'acme/app' },
        sender: { id: 300, login: 'bob', type: 'User' },
      },
      ...{ pull_request: { number, title: 't', body: '', html_url: 'u' }, comment: written(commentId) },
    };
    await acme.service.app.github?.receive({
      id: `${action}-${commentId}`,
      name: 'pull_request_review_comment',
      payload,
    });
  };
  const kept = () =>
    query(`select github_id::int as id, thread_id::int as thread, text from review_comments where task_id = $1`, [id]);
  try {
    for (const action of ['created', 'edited']) {
      await tell(action, 1001);
      expect([read, statements.length]).toEqual([['/repos/acme/app/pulls/comments/1001'], 1]);
      expect(await kept()).toEqual([{ id: 1001, thread: 7, text: 'edited since' }]);
    }
    around.reads['/repos/acme/app/pulls/comments/1001'] = { status: 404, body: { message: 'Not Found' } };
    // An event that arrives late stores nothing that was deleted since.
    for (const action of ['deleted', 'edited']) {
      await tell(action, 1001);
      expect([read.length, statements.length, await kept()]).toEqual([2, 1, []]);
    }
    // What GitHub does not show us may still exist.
    around.reads['/repos/acme/app/pulls/comments/1001'] = undefined as never;
    await tell('edited', 1001);
    around.reads['/repos/acme/app/pulls/comments/1001'] = { status: 404, body: { message: 'Not Found' } };
    around.reads['/repos/acme/app'] = { status: 404, body: { message: 'Not Found' } };
    await tell('deleted', 1001);
    expect(await kept()).toHaveLength(1);
  } finally {
    em.query = query as typeof em.query;
  }
});
