import type { Octokit } from '../../../src/app.ts';
import type { Place } from '../../../src/github/app/place.ts';
import { answerThreads } from '../../../src/github/mirror/reviews/answer-reviews.ts';
import { openTestApp, type TestApp } from '../../support/app.ts';
import { appSettings } from '../../support/github-app.ts';
import { type FakeGitHub, openFakeGitHub } from '../../support/stand-ins/fake-github.ts';

const bot = { id: 50, login: 'deckhand[bot]' };
const mona = { id: 7, login: 'mona' };
interface Comment {
  id: number;
  in_reply_to_id?: number;
  pull_request_review_id: number;
  user: { id: number; login: string };
  body: string;
}
let comments: Comment[];
/** The threads that got a reply. */
let replied: number[];
let gone: number[];
let github: FakeGitHub;
let service: TestApp;

beforeAll(async () => {
  github = await openFakeGitHub([
    [/^GET \/app$/, () => ({ slug: 'deckhand' })],
    [/^GET \/app\/installations/, () => [{ id: 1 }]],
    [/^GET \/users\/deckhand/, () => ({ ...bot, avatar_url: '' })],
    [/^GET \/repos\/acme\/shop\/pulls\/4\/comments/, () => comments],
    [
      /^POST \/repos\/acme\/shop\/pulls\/4\/comments\/(\d+)\/replies$/,
      ([, id], res) => {
        const to = Number(id);
        const isReply = comments.find((c) => c.id === to)?.in_reply_to_id !== undefined;
        if (isReply || gone.includes(to)) {
          res.statusCode = 422;
          return { message: 'Validation Failed' };
        }
        replied.push(to);
        const body = '<!-- deckhand:answer 2 -->\nAddressed in abc.';
        comments.push({ id: 100 + to, in_reply_to_id: to, pull_request_review_id: 9, user: bot, body });
        return {};
      },
    ],
  ]);
  service = await openTestApp(appSettings(github.url));
});
afterAll(async () => {
  await service.close();
  github.close();
});
beforeEach(() => {
  [replied, gone] = [[], []];
  const said = (id: number, review: number, to?: number): Comment => ({
    id,
    ...(to === undefined ? {} : { in_reply_to_id: to }),
    pull_request_review_id: review,
    user: mona,
    body: 'please',
  });
  const answered = { ...said(3, 9, 1), user: bot, body: '<!-- deckhand:answer 1 -->\nAddressed in 123.' };
  // Review 1 began two threads, and one of them was answered. Review 2 goes on in it, twice, and begins two threads.
  comments = [said(1, 1), said(2, 1), answered, said(4, 2, 1), said(5, 2, 3), said(6, 2), said(7, 2)];
});

const review = {
  about: '2',
  isAsked: ({ pull_request_review_id: id }: { pull_request_review_id: number | null }) => id === 2,
};
const answer = async () => {
  const octokit = (await service.app.github?.asInstallation(1)) as Octokit;
  await answerThreads(
    service.app,
    { octokit, name: { owner: 'acme', repo: 'shop' } } as Place,
    4,
    review,
    () => 'Addressed in abc.',
  );
};

test('each thread of a review gets one reply to its first comment, also in a later round', async () => {
  await answer();
  expect(replied).toEqual([1, 6, 7]);
  await answer();
  expect(replied).toEqual([1, 6, 7]);
});

test('a thread that takes no reply does not hold up the others', async () => {
  gone = [6];
  await answer();
  expect(replied).toEqual([1, 7]);
});
