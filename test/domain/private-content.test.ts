import { mayName, mayReveal } from '../../src/domain/private-content.ts';

const [secret, open] = [{ isPrivate: true }, { isPrivate: false }];

test('only a private repository in a public place is kept back', () => {
  expect([mayName(secret, open), mayName(secret, secret), mayName(open, open), mayName(open, secret)]).toEqual([
    false,
    true,
    true,
    true,
  ]);
});

test('a project may allow its private content to show, but not by default', () => {
  expect(mayReveal(secret, open, { sharePrivateContext: false })).toBe(false);
  expect(mayReveal(secret, open, { sharePrivateContext: true })).toBe(true);
  expect(mayReveal(open, open, { sharePrivateContext: false })).toBe(true);
});
