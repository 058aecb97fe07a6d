import { placeOfRepository } from '../../../src/github/app/place.ts';
import { heardUntil, setMark } from '../../../src/github/delivery-store.ts';
import { catchUp } from '../../../src/github/inbox/catch-up.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, asked, barred, people, shown } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();
const anHourAgo = () => new Date(Date.now() - 3_600_000).toISOString();
const aMinuteAgo = () => new Date(Date.now() - 60_000).toISOString();

/** Catches up with acme/app since an hour ago. */
async function caughtUp(isOver = () => false) {
  const { own } = await acme.twoPeople();
  const place = await placeOfRepository(acme.service.app, own.id);
  if (place === undefined) throw new Error('acme/app is not installed');
  const em = acme.service.app.db.manager;
  await setMark(em, `heard ${own.id}`, anHourAgo());
  const before = await heardUntil(em, own.id);
  const touched = await catchUp(acme.service.app, place, isOver);
  return { touched: [...touched], hasMoved: (await heardUntil(em, own.id)) !== before };
}

const issue = (number: number) => ({
  number,
  title: 'An issue',
  body: '',
  html_url: `u/${number}`,
  user: shown(400, 'ada'),
  created_at: '2026-01-01T00:00:00Z',
  labels: [],
});

/** Puts comments with a command on issue 1, each by the person with this id on GitHub. */
function write(...by: [id: number, login: string][]): void {
  around.pages['/issues'] = [];
  around.pages['/issues/1'] = issue(1);
  const comments = by.map(([id, login], i) => ({
    id: i + 1,
    node_id: `node_${i + 1}`,
    body: '/agent create',
    user: shown(id, login),
    created_at: aMinuteAgo(),
    issue_url: 'https://api.github.com/repos/acme/app/issues/1',
  }));
  around.pages['/issues/comments'] = comments;
  around.comments = comments;
  around.nodes = comments.map(({ node_id: id }) => ({ id, lastEditedAt: null, editor: null }));
}

test('GitHub is asked nothing about the comments of people whose commands do not count', async () => {
  people.set(500, 'mallory');
  barred.add('500 1');
  write(...Array.from({ length: 50 }, (): [number, string] => [500, 'mallory']), [400, 'ada']);
  await caughtUp();
  expect(asked.filter(({ path }) => path === '/graphql').map(({ body }) => body.variables)).toEqual([
    { ids: ['node_51'] },
    expect.anything(),
  ]);
  // Her command is handled. The others' comments get not even a reaction.
  const reacted = asked.map(({ path }) => path).filter((path) => path.endsWith('/reactions'));
  expect(new Set(reacted)).toEqual(new Set(['/repos/acme/app/issues/comments/51/reactions']));
});

test('when the time is over among the issues, the next catch-up begins where this one did', async () => {
  write();
  around.pages['/issues'] = [issue(1), issue(2)];
  let left = 1;
  expect(await caughtUp(() => left-- <= 0)).toEqual({ touched: [1], hasMoved: false });
  expect(await caughtUp()).toEqual({ touched: [1, 2], hasMoved: true });
});
