import { readResults } from '../../../src/domain/proof/tests/test-results.ts';

test.each<[string, string, string[], string[]]>([
  [
    'node --test',
    '▶ prices\n  ✔ adds (0.61ms)\n  ✖ rounds (1.2ms)\n✖ prices (2.1ms)\n﹣ later (0.1ms) # SKIP\nℹ tests 3\n\n✖ failing tests:\n\ntest at a.js:1:1\n✖ rounds (1.2ms)\n',
    ['adds'],
    ['rounds'],
  ],
  [
    'TAP',
    'TAP version 13\nok 1 - adds\nnot ok 2 - rounds\nok 3 - later # SKIP\n  not ok 4 - open # TODO\n',
    ['adds'],
    ['rounds'],
  ],
  ['go test -v', '=== RUN   TestA\n--- PASS: TestA (0.00s)\n    --- FAIL: TestB/b (0.01s)\n', ['TestA'], ['TestB/b']],
  [
    'go test -json',
    '{"Action":"run","Test":"TestA"}\n{"Action":"pass","Package":"p","Test":"TestA"}\n{"Action":"fail","Test":"TestB"}\n{"Action":"fail","Package":"p"}\n',
    ['TestA'],
    ['TestB'],
  ],
  [
    'pytest',
    'tests/test_a.py::test_a PASSED [ 50%]\ntests/test_a.py::test_b[1-2] FAILED [100%]\nFAILED tests/test_a.py::test_b[1-2] - assert 3 == 4\n',
    ['tests/test_a.py::test_a'],
    ['tests/test_a.py::test_b'],
  ],
  [
    'unittest',
    'test_a (test_a.A.test_a) ... ok\ntest_b (test_a.A.test_b) ... FAIL\n\nFAIL: test_b (test_a.A.test_b)\n',
    ['test_a (test_a.A.test_a)'],
    ['test_b (test_a.A.test_b)'],
  ],
  ['Jest', '\u001b[32m✓\u001b[39m adds (3 ms)\n  ✕ rounds\n\n  ● prices › rounds\n', ['adds'], ['rounds']],
  [
    'Jest with --json',
    '{"testResults":[{"assertionResults":[{"title":"adds","status":"passed"},{"title":"rounds","status":"failed"},{"title":"x","status":"pending"}]}]}\n',
    ['adds'],
    ['rounds'],
  ],
  [
    'cargo test',
    'test a::adds ... ok\ntest a::rounds ... FAILED\ntest a::slow ... ignored\n',
    ['a::adds'],
    ['a::rounds'],
  ],
  ['prove', "#   Failed test 'rounds'\n#   at t/a.t line 3.\n", [], ['rounds']],
  [
    'JUnit',
    '<testsuite><testcase classname="a" name="adds"/><testcase name="a &lt; b"><failure>no</failure></testcase><testcase name="x"><skipped/></testcase></testsuite>',
    ['adds'],
    ['a < b'],
  ],
])('%s says which tests passed and failed', (_name, text, passed, failed) => {
  expect(readResults(text, true)).toEqual({ passed, failed, isWhole: true });
});

test('other output says nothing, and too much of it nothing about missing tests', () => {
  expect(readResults('building\n1 error\n{"a":1}\n{broken\n', true)).toBeUndefined();
  const many = Array.from({ length: 6000 }, (_, i) => `ok ${i} - t${i}`).join('\n');
  expect(readResults(many, true)).toMatchObject({ isWhole: false, failed: [] });
  expect(readResults('ok 1 - a', false)?.isWhole).toBe(false);
});

test('hostile output takes linear time', () => {
  const begun = performance.now();
  for (const part of [
    '● › ',
    '✔ (1 ',
    'ok 1 # ',
    '<testcase ',
    'a::[',
    '{',
    '--- FAIL: ',
    '\u001b[1;',
    '▶ (1.',
    "# Failed test ''",
  ]) {
    readResults(part.repeat(250_000 / part.length), true);
    readResults(`${part.repeat(1900 / part.length)}\n`.repeat(130), true);
  }
  expect(performance.now() - begun).toBeLessThan(10_000);
});
