import { type Place, placeOfRepository } from '../../../src/github/app/place.ts';
import { takeTicks } from '../../../src/github/planning/advance-plan.ts';
import { planMarker, tickList } from '../../../src/github/planning/plan-comment.ts';
import { openAcme } from '../../support/stand-ins/acme.ts';
import { around, asked, people as logins, shown } from '../../support/stand-ins/named-github.ts';

const acme = openAcme();
const number = 71;
const commentId = 700;
const [ada, bob, carl] = [shown(400, 'ada'), shown(300, 'bob'), shown(500, 'carl')];

/** When the comment of the plan was edited last, and by whom; without them, GitHub does not say. */
interface Edit {
  by: { id: number; login: string };
  at: Date;
}

/** A plan whose open question has its second option ticked. `words` are the users whose words it follows. */
async function ticked(edit: Edit | undefined) {
  const people = await acme.twoPeople();
  logins.set(500, 'carl');
  const { em, own, projectId, ids } = people;
  await em.query('delete from wizard_sessions');
  await em.query('delete from handled_commands');
  const options = ['One', 'Two'].map((label, i) => ({ id: `o${i + 1}`, label, description: '' }));
  const step = {
    id: 's1',
    question: 'Which?',
    options,
    allowCustom: true,
    askedAt: new Date(0).toISOString(),
    answer: null,
  };
  await em.query(
    `insert into wizard_sessions (id, project_id, repository_ids, goal, status, created_by, directed_by, steps,
       issue_repository_id, issue_number)
     values ('wiz_1', $1, $2, 'A goal', 'collecting', $3, '[]', $4, $5, $6)`,
    [projectId, JSON.stringify([own.id]), ids.ada, JSON.stringify([step]), own.id, number],
  );
  const ticks = tickList('s1', ['One', 'Two']).map((line) =>
    /Two|Send/.test(line) ? line.replace('[ ]', '[x]') : line,
  );
  const body = [planMarker, ...ticks].join('\n');
  around.comments = [{ id: commentId, node_id: 'IC_700', body, user: { id: 41, login: 'deckhand[bot]' } }];
  const editor = edit && { login: edit.by.login, databaseId: edit.by.id };
  around.nodes = edit === undefined ? [] : [{ id: 'IC_700', lastEditedAt: edit.at.toISOString(), editor }];
  const place = (await placeOfRepository(acme.service.app, own.id)) as Place;
  const state = async () => {
    const [{ steps, words }] = await em.query('select steps, directed_by as words from wizard_sessions');
    return { chosen: steps[0].answer?.selectedOptionIds, words };
  };
  return { ...people, place, state };
}

test('ticks are the words of who edited the comment last, whose ever the event is', async () => {
  const { place, state, ids } = await ticked({ by: bob, at: new Date() });
  await takeTicks(acme.service.app, place, { number, commentId, sender: ada });
  expect(await state()).toEqual({ chosen: ['o2'], words: [ids.bob] });
});

test.each([
  ['GitHub does not say who sent them', undefined, /does not say who/],
  ['who sent them has no write permission', { by: carl, at: new Date() }, /^/],
])('ticks are not taken if %s', async (_why, edit, said) => {
  const { place, state } = await ticked(edit);
  await takeTicks(acme.service.app, place, { number, commentId, sender: ada });
  expect(await state()).toEqual({ chosen: undefined, words: [] });
  const shownAgain = asked.filter(({ path }) => path.endsWith(`/issues/comments/${commentId}`)).at(-1)?.body.body;
  expect(shownAgain).toMatch(said);
  expect(shownAgain).not.toContain('[x]');
});

test.each([
  ['before the command was written', bob, -5000, ['o2']],
  ['by its writer, in the same second', ada, 0, ['o2']],
  ['by somebody else since then', bob, 0, undefined],
])('a command answers with what was ticked %s', async (_when, by, ms, chosen) => {
  const written = new Date();
  const { state, ids } = await ticked({ by, at: new Date(written.getTime() + ms) });
  await acme.say(400, 'ada', '/agent answer', number, written);
  expect(await state()).toEqual({ chosen, words: chosen === undefined ? [] : [ids.ada] });
});

test('a command answers with nothing that GitHub does not know who ticked', async () => {
  const { state } = await ticked(undefined);
  await acme.say(400, 'ada', '/agent answer', number);
  expect(await state()).toEqual({ chosen: undefined, words: [] });
  await acme.say(400, 'ada', '\n/agent answer 1', number);
  expect((await state()).chosen).toEqual(['o1']);
});
