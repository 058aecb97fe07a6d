import { mayName, mayReveal } from '../../src/domain/settings.ts';

const [secret, open] = [{ isPrivate: true }, { isPrivate: false }];

test('content is withheld only if a private repository would appear in a public place', () => {
  expect([mayName(secret, open), mayName(secret, secret), mayName(open, open), mayName(open, secret)]).toEqual([
    false,
    true,
    true,
    true,
  ]);
});

test('a project may allow private content to be shown, but the default is not to', () => {
  expect(mayReveal(secret, open, { sharePrivateContext: false })).toBe(false);
  expect(mayReveal(secret, open, { sharePrivateContext: true })).toBe(true);
  expect(mayReveal(open, open, { sharePrivateContext: false })).toBe(true);
});
