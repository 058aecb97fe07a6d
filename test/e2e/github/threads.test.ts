import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo } from '../../support/face.ts';

let face: Face;
/** A task in review, whose pull request several tests comment on. */
let shared: Awaited<ReturnType<Face['inReview']>>;
beforeAll(async () => {
  face = await openFace({ settings: { SANDBOX: 'off' } });
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
