import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo } from '../../support/face.ts';

let face: Face;
/** The model answers once this is fulfilled. */
let gate: Promise<void> = Promise.resolve();
/** A task in review, whose pull request several tests comment on. */
let shared: Awaited<ReturnType<Face['inReview']>>;
beforeAll(async () => {
  face = await openFace({ settings: { SANDBOX: 'off' }, before: () => gate });
  shared = await face.inReview({ 'review.txt': 'bad\n' });
});
afterAll(() => face.world.close());

interface Listed {
  id: number;
  in_reply_to_id?: number;
  body: string;
  user: { login: string };
}
const listed = () => face.mona<Listed[]>('GET', `${repo}/pulls/${shared.pull}/comments?per_page=100`);
const answersIn = async (id: number) =>
  (await listed()).filter((c) => c.in_reply_to_id === id && c.user.login === 'deckhand[bot]').map(({ body }) => body);
const comment = (body: string) =>
  face.mona<Listed>('POST', `${repo}/pulls/${shared.pull}/comments`, {
    path: 'review.txt',
    line: 1,
    side: 'RIGHT',
    body,
  });
const answerTo = (id: number, body: string) =>
  face.mona<Listed>('POST', `${repo}/pulls/${shared.pull}/comments/${id}/replies`, { body });
const inReviewAgain = (runs: number) => face.settled(shared.number, 'in_review', runs);

test('a command in a thread is carried out, and answered in that thread', async () => {
  const { world, reactionsTo } = face;
  const first = await comment('This is not good.');
  const asked = await answerTo(first.id, '/agent strat');
  await until('the answer', async () => (await answersIn(first.id))[0]?.includes('There is no such command'));
  await until('the reaction', async () => reactionsTo(asked.id).length === 2);
  expect(reactionsTo(asked.id)).toEqual(['eyes', 'confused']);
  face.next({ 'review.txt': 'good\n' });
  const before = (await face.kinds(shared.task)).length;
  await answerTo(first.id, '/agent revise say good');
  await inReviewAgain(before + 1);
  const told = JSON.stringify(world.model.requests.at(-1)?.messages);
  for (const part of ['review.txt:1', 'This is not good.', 'say good']) expect(told).toContain(part);
});

test('a command in a review that approves, and in its comments, is carried out', async () => {
  const before = (await face.kinds(shared.task)).length;
  face.next({ 'review.txt': 'better\n' });
  await face.mona('POST', `${repo}/pulls/${shared.pull}/reviews`, {
    event: 'APPROVE',
    body: 'Fine.\n/agent budget steps 90',
    comments: [{ path: 'review.txt', position: 1, body: '/agent revise say better' }],
  });
  await inReviewAgain(before + 1);
  const { budget } = await face.world.get<{ budget: object }>(`/tasks/${shared.task.id}`);
  expect(budget).toMatchObject({ steps: 90 });
});

interface Kept {
  id: string;
  text: string;
  state: string;
  answer: string | null;
  round: number;
}
const kept = () => face.world.get<Kept[]>(`/tasks/${shared.task.id}/review-comments`);

test('a request of the dashboard is a review on GitHub; the agent answers in its thread, also when it changes nothing', async () => {
  const { world, get, kinds, mona } = face;
  const before = await kinds(shared.task);
  let open = () => {};
  gate = new Promise((resolve) => {
    open = resolve;
  });
  await world.service.api(world.token, 'POST', `/tasks/${shared.task.id}/revise`, {
    text: 'Once more.',
    comments: [{ path: 'review.txt', line: 1, side: 'new', quote: 'better', text: 'Say best.' }],
  });
  const asked = (await kept()).find(({ text }) => text === 'Say best.');
  const answer = { comment: asked?.id, text: 'It says better already.' };
  const finish = { name: 'finish', arguments: { summary: 'It is right as it is.', nextSteps: [] } };
  face.plays([{ name: 'answer_comment', arguments: answer }], [finish]);
  open();
  await inReviewAgain(before.length + 1);
  const quoted = await until('the review', async () =>
    (await listed()).find(({ body, user }) => user.login === 'deckhand[bot]' && body.includes('> Say best.')),
  );
  const answers = await until('the answer', async () => {
    const found = await answersIn(quoted.id);
    return found.length > 0 && found;
  });
  expect(answers).toEqual([expect.stringContaining('It says better already.')]);
  expect((await kept()).find(({ text }) => text === 'Say best.')).toMatchObject({
    state: 'addressed',
    answer: 'It says better already.',
  });
  await face.told(shared.number, 'Nothing changed');
  const reviews = await mona<{ state: string; body: string }[]>('GET', `${repo}/pulls/${shared.pull}/reviews`);
  expect(reviews.filter(({ body }) => body.includes('> Once more.')).map(({ state }) => state)).toEqual(['COMMENTED']);
  const { problems } = await world.get<{ problems: { text: string }[] }>(`/tasks/${shared.task.id}/merge-readiness`);
  expect(problems.map(({ text }) => text).join()).toContain('The last revision changed nothing');
  // Comparing with GitHub again changes nothing.
  await world.service.api(world.token, 'POST', '/agents/pool/reconcile');
  expect(await answersIn(quoted.id)).toHaveLength(1);
  expect((await get(shared.task)).status).toBe('in_review');
});
