import { readAccepted, stale } from '../../bench/mutate/accepted.ts';
import { areas, testsOf } from '../../bench/mutate/areas.ts';
import { findMutants } from '../../bench/mutate/find-mutants.ts';
import { applied } from '../../bench/mutate/mutant.ts';
import { scoreOf, summary } from '../../bench/mutate/report.ts';
import { countMutable } from '../../bench/mutate/sample.ts';

const root = new URL('../..', import.meta.url).pathname;

const changed = (source: string, functions: string[] = []) =>
  findMutants('a.ts', source, functions).map((mutant) => applied(Buffer.from(source), mutant).toString());

test.each([
  ['x = a < b;', ['x = (a <= b);', 'x = (a >= b);']],
  ['x = a !== b;', ['x = (a === b);']],
  ['x = Date.now() < end;', ['x = (Date.now() >= end);']],
  ['x = a && b;', ['x = (a || b);']],
  ['x = a && b || c;', ['x = (a || b) || c;', 'x = (a && b && c);']],
  ['x = a - b;', ['x = (a + b);']],
  ['x = a + "!";', []],
  ['x = !a;', ['x = a;']],
  ['if (a) b = c;', ['if (!(a)) b = c;']],
  ['if (a === b) c = d;', ['if ((a !== b)) c = d;']],
  ['x = a ? b : c;', ['x = !(a) ? b : c;']],
  ['for (;;) x = y;', []],
  ['x = true;', ['x = false;']],
  ['x = 7;', ['x = 8;']],
  ['x = 60_000;', ['x = 600000;']],
])('%s has the mutants %j', (source, wanted) => {
  expect(changed(source)).toEqual(wanted);
});

test.each(['act();', 'await act();', 'void act();', 'a.b?.act();'])('%s can be dropped', (call) => {
  expect(changed(`if (a === b) ${call}`)).toContain('if (a === b) ;');
});

test('a call whose value is used cannot be dropped, nor can the call of the parent class', () => {
  expect(changed('const x = act();')).toEqual([]);
  expect(changed('class A extends B { constructor() { super(); } }')).toEqual([]);
});

test('a guard can be dropped, but not a choice', () => {
  const inside = (body: string) => changed(`function f() { ${body} }`);
  const nothing = 'function f() { ; }';
  expect(inside('if (isGone) return;')).toContain(nothing);
  expect(inside("if (isGone) { log(); throw new Error('gone'); }")).toContain(nothing);
  expect(inside('if (isGone) act();')).not.toContain(nothing);
  expect(inside('if (isGone) return a; else return b;')).not.toContain(nothing);
});

test('two steps that wait can come in the wrong order', () => {
  const body = 'async function a() { await work(); await mark(); }';
  expect(changed(body)).toContain('async function a() { await mark(); await work(); }');
  expect(changed('function a() { work(); mark(); }')).not.toContain('function a() { mark(); work(); }');
});

test('a reset can be forgotten', () => {
  expect(changed('timer = undefined;')).toEqual([';']);
  expect(changed('timer = start();')).toEqual([]);
  expect(changed('em.update(A, { id }, { status: s, waiting: null });')).toContain(
    'em.update(A, { id }, { status: s, ...{} });',
  );
  expect(changed('f({ status: s, waiting: null });')).toEqual([';']);
});

test('a row of a table can be dropped', () => {
  expect(changed("x = [['a'], ['b']];")).toEqual(["x = [['b']];", "x = [['a'], ];"]);
  expect(changed("x = ['a', 'b'];")).toEqual([]);
});

test('types and names of properties are left alone; the value of an assertion is not', () => {
  expect(changed('type A = 5 | true; const f = (x: 1): 2 => x as 3;')).toEqual([]);
  expect(changed('x = { 4: y };')).toEqual([]);
  expect(changed('x = 5 as const;')).toEqual(['x = 6 as const;']);
});

test('positions after multi-byte characters are correct', () => {
  expect(changed("/* é😀 */ x = 'ß' || y;")).toEqual(["/* é😀 */ x = ('ß' && y);"]);
});

const statement = (text: string) => changed(`q(\`\${x} ${text}\`, 'é');`).map((each) => each.slice(8, -8));
test.each([
  ['select a from b where c < $1', ['c <= ', 'c >= ']],
  ['select a from b where c < now()', ['c >= ']],
  ['select a from b where c = $1', ['<>']],
  ['update a set b = $1 where c is null', ['is not null']],
  ['select a from b where c or not exists (d)', ['and not', 'or exists']],
  ['select a from b for update skip locked', ['from b$', 'for update$']],
  ['select distinct a from b order by c, d desc', ['select a', 'c desc', 'd asc']],
  ['select a from b limit 1', ['limit 2']],
  ["select now() - interval '24 hours'", [/\+ interval '24/, /- interval '25/]],
  ['select a from b -- 5 and c < d', []],
  ['select a from b where c between $1 and $2', []],
  ['update a set b = greatest(b, $1)', ['least', 'b = b', /b = \$1/]],
  ['update a set b = coalesce(f(b, 2), c)', ['b = f\\(b, 2\\)$', 'b = c', 'f\\(b, 3\\)']],
  ['update a set b = $1, c = null where d is null', ['set b = \\$1 where', 'is not null']],
])('SQL: %s', (text, wanted) => {
  const found = statement(text).filter((each) => each !== '');
  expect(found).toHaveLength(wanted.length);
  for (const [at, each] of wanted.entries()) expect(found[at]).toMatch(new RegExp(each));
});

test('a sentence is not SQL', () => {
  expect(changed("x = 'Select a task and choose an agent or a team = 5.';")).toEqual([]);
});

test('a small change is shown with its line and its place', () => {
  const [mutant] = findMutants('a.ts', '\n  const end = start + f(5);\n').filter(({ change }) => change.includes('6'));
  expect(mutant).toMatchObject({
    file: 'a.ts',
    line: 2,
    change: 'const end = start + f(5); → const end = start + f(6);',
  });
});

test('an area can be a few functions of a file', () => {
  const source = 'function a() { return 1; }\nexport async function b() { return 2; }';
  expect(changed(source, ['b'])).toEqual([source.replace('2', '3')]);
  expect(() => changed(source, ['c'])).toThrow('a.ts: expected the functions c');
});

test.each(areas)('the area $name has sources with mutants, and tests', (area) => {
  expect(countMutable(area, root)).toBeGreaterThan(0);
  expect(testsOf(area, root).length).toBeGreaterThan(0);
});

test('an accepted mutant needs a reason, and goes when its code goes', () => {
  expect(() => readAccepted('# list\na.ts: b → c\n')).toThrow(/give the reason: a.ts: b → c/);
  const accepted = readAccepted('# list\na.ts: x = 1; → x = 2;\n  Nobody reads x.\na.ts: gone → lost\n  It is.\n');
  expect(stale(accepted, findMutants('a.ts', 'x = 1;'))).toEqual(['a.ts: gone → lost']);
});

test('the summary counts a mutant that takes too long as killed, and lists the survivors', () => {
  const [mutant] = findMutants('a.ts', '\nx = 1;');
  if (mutant === undefined) throw new Error('expected a mutant');
  const results = (['killed', 'timeout', 'survived'] as const).map((outcome) => ({
    area: 'domain',
    mutant,
    outcome,
    ms: 1,
    killedBy: undefined,
  }));
  const score = scoreOf('domain', results);
  expect(score).toEqual({ area: 'domain', killed: 1, timeout: 1, survived: 1, share: 2 / 3 });
  const text = summary([score], results);
  expect(text).toMatch(/^domain .* 66 % {2}below the goal$/m);
  expect(text).toContain('a.ts:2: x = 1; → x = 2;');
});
