import { openSeparateWorld } from '../../support/world.ts';
import { attempt, itemOf, openTrialWorld } from './trial-world.ts';

test('a trial goes on after its worker was killed, and tries nothing twice', async () => {
  let asked = () => {};
  let goesOn: Promise<void> = Promise.resolve();
  const world = await openTrialWorld(
    (request, turn) => attempt(request, turn, itemOf(request) === 1),
    {
      items: 2,
      before: async (turn, request) => {
        if (itemOf(request) > 0 && turn === 1) asked();
        await goesOn;
      },
    },
    openSeparateWorld,
  );
  try {
    const secondTurn = () =>
      new Promise<void>((resolve) => {
        asked = resolve;
      });
    let release = () => {};
    goesOn = Promise.resolve();
    const first = secondTurn();
    const { id } = await world.start();
    await first;
    goesOn = new Promise((resolve) => {
      release = resolve;
    });
    await world.kill();
    release();
    goesOn = Promise.resolve();
    const second = secondTurn();
    await world.restart();
    await second;
    const trial = await world.ended(id);
    expect(trial).toMatchObject({ status: 'done', solved: 1, of: 2 });
    expect(trial.items.map(({ itemId, result }) => [itemId, result]).sort()).toEqual([
      ['item_1', 'solved'],
      ['item_2', 'unsolved'],
    ]);
    // One hidden task and one run for each item, and the first turn of each was asked for once.
    expect(await world.sql(`select 1 from runs where kind = 'trial'`, [])).toHaveLength(2);
    const firstTurns = world.model.requests.filter(
      (request) => itemOf(request) > 0 && request.messages.every(({ role }) => role !== 'assistant'),
    );
    expect(firstTurns).toHaveLength(2);
  } finally {
    await world.close();
  }
});
