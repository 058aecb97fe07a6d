import { cleanStream, formsOf, safeLength } from '../../../src/domain/secrets.ts';

test('a secret of eight characters is searched for, and a shorter one is not', () => {
  expect(formsOf(['abcdefg', ''])).toEqual([]);
  expect(formsOf(['abcdefgh'])).toContain('abcdefgh');
});

test('a secret is found in base64 wherever it begins and whatever follows', () => {
  const secret = 'abcdefgh';
  const forms = formsOf([secret]);
  for (const before of ['', 'x', 'xy', 'xyz'])
    for (const after of ['', 'x', 'xy'])
      for (const encoding of ['base64', 'base64url'] as const) {
        const text = Buffer.from(before + secret + after).toString(encoding);
        expect([text, forms.some((form) => text.includes(form))]).toEqual([text, true]);
      }
  // Of `abcdefgh`, the characters that depend on it alone, after 0, 1 and 2 other bytes.
  expect(forms).toEqual(expect.arrayContaining(['YWJjZGVmZ2', 'FiY2RlZmd', 'hYmNkZWZna']));
});

test.each([
  ['JSON', 'say "hello"', 'say \\"hello\\"'],
  ['JSON with escaped slashes', 'abc/defg', 'abc\\/defg'],
  ['hex', 'abcdefg/', '616263646566672f'],
  ['hex in capitals', 'abcdefg/', '616263646566672F'],
  ['a URL', 'p@ss/wörd', 'p%40ss%2Fw%C3%B6rd'],
  ['a URL in small letters', 'p@ss/wörd', 'p%40ss%2fw%c3%b6rd'],
  ['a URL with slashes', 'p@ss/word', 'p%40ss/word'],
  ['a URL with more escapes', "it's(12)*!", 'it%27s%2812%29%2A%21'],
  ['a form', 'correct horse', 'correct+horse'],
  ['a URL with every character escaped', 'p@ssword', '%70%40%73%73%77%6f%72%64'],
  ['JSON with every character escaped', 'pässword', '\\u0070\\u00e4\\u0073\\u0073\\u0077\\u006f\\u0072\\u0064'],
])('a secret is also searched for as part of %s', (_what, secret, form) => {
  expect(formsOf([secret])).toContain(form);
});

test.each<[string, string[], number]>([
  ['one two', [], 4],
  ['one', [], 0],
  ['日本語', [], 3],
  ['one two ', ['one two '], 8],
  ['zz ab c ', ['ab c d'], 3],
  ['zz ab x ', ['ab c d'], 8],
])('of %j, while %j may follow, %i characters are complete', (text, secrets, length) => {
  expect(safeLength(text, secrets)).toBe(length);
});

test('text that cannot belong to a secret is sent at once', () => {
  const sent: string[] = [];
  const stream = cleanStream((text) => sent.push(text), ['correct horse']);
  stream.add('It is fine, so far');
  expect(sent).toEqual(['It is fine, so ']);
  stream.end();
  expect(sent.join('')).toBe('It is fine, so far');
});
