import { portfolioOf, type TriedAgent } from '../../../src/domain/lab/portfolio.ts';

/** An agent that solved the first tasks of some. */
const tried = (agentId: string, solved: number, of: number, costUsd: number | null, first = 1): TriedAgent => ({
  agentId,
  model: 'm',
  items: new Map(Array.from({ length: of }, (_, i) => [`item_${i + first}`, i < solved])),
  costUsd,
  minutes: of,
});

test('the cheapest one that is not worse than the best', () => {
  const { agents, cheapest } = portfolioOf([
    tried('large', 16, 20, 16),
    tried('small', 14, 20, 2),
    tried('tiny', 3, 20, 0.1),
  ]);
  expect(cheapest).toMatchObject({ agentId: 'small', solved: 14, of: 20, costPerSolved: 2 / 14 });
  expect(agents.map(({ agentId, comparedWithBest }) => [agentId, comparedWithBest])).toEqual([
    ['large', 'best'],
    ['small', 'not worse'],
    ['tiny', 'worse'],
  ]);
});

test('one lucky task makes nobody the best, nor not worse', () => {
  const { agents, cheapest } = portfolioOf([tried('large', 15, 20, 30), tried('lucky', 1, 1, 0.01)]);
  expect(agents.map(({ comparedWithBest }) => comparedWithBest)).toEqual(['best', 'unknown']);
  expect(cheapest?.agentId).toBe('large');
});

test('efficient ones: nothing is at least as good for at most as much', () => {
  const { agents } = portfolioOf([
    tried('large', 16, 20, 16),
    tried('dear', 10, 20, 20),
    tried('small', 10, 20, 1),
    tried('free', 5, 20, null),
    tried('hopeless', 0, 20, 1),
  ]);
  expect(agents.filter(({ isEfficient }) => isEfficient).map(({ agentId }) => agentId)).toEqual(['large', 'small']);
  expect(agents.at(-1)).toMatchObject({ costPerSolved: null, minutesPerSolved: null });
});

test('tasks that only one of them tried are compared as a whole', () => {
  const { agents } = portfolioOf([tried('here', 18, 20, 10), tried('there', 4, 20, 1, 100)]);
  expect(agents[1]).toMatchObject({ comparedWithBest: 'worse' });
});

test('of two that solve as many, the cheaper one is the best, and of two that cost the same, the faster one', () => {
  expect(portfolioOf([tried('dear', 2, 2, 2), tried('cheap', 2, 2, 1)]).cheapest?.agentId).toBe('cheap');
  const slow = { ...tried('slow', 2, 2, 1), minutes: 9 };
  for (const both of [
    [slow, tried('fast', 2, 2, 1)],
    [tried('fast', 2, 2, 1), slow],
  ])
    expect(portfolioOf(both).cheapest?.agentId).toBe('fast');
  expect(portfolioOf([{ ...tried('none', 0, 0, null) }])).toEqual({ agents: [], cheapest: null });
  expect(portfolioOf([tried('unpriced', 2, 2, null)]).cheapest).toBeNull();
});
