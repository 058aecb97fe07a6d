import fc from 'fast-check';
import { z } from 'zod';
import { findByName, hidden, specsOf } from '../../src/llm/calls/declaration.ts';
import { fitArguments } from '../../src/llm/calls/fit-arguments.ts';
import { readJson } from '../../src/llm/calls/read-json.ts';

const json = fc.dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });

test('valid JSON is read as it is', () => {
  fc.assert(
    fc.property(json, (value) =>
      expect(readJson(JSON.stringify(value))).toEqual({ value: JSON.parse(JSON.stringify(value)) }),
    ),
  );
});

test('what is cut off anywhere is refused or read as a part of it, never as something else', () => {
  const values = fc.record({ path: fc.string({ minLength: 1 }), content: fc.string(), all: fc.boolean() });
  fc.assert(
    fc.property(values, fc.nat(), (value, at) => {
      const text = JSON.stringify(value);
      const cut = text.slice(0, 1 + (at % (text.length - 1)));
      expect(readJson(cut, { isCut: true }).problem).toBeDefined();
      const { value: read } = readJson(cut);
      for (const [key, part] of Object.entries((read ?? {}) as object))
        expect(part).toEqual(value[key as keyof typeof value]);
    }),
  );
});

test.each([
  ['a raw line break', '{"a": "x\ny"}', { a: 'x\ny' }],
  ['a comma too many', '{"a": [1, 2,],}', { a: [1, 2] }],
  ['missing brackets', '{"a": [{"b": 1}', { a: [{ b: 1 }] }],
  ['brackets too many', '{"a": 1}]}', { a: 1 }],
  ['single quotes', `{'a': 'it\\'s "x"'}`, { a: 'it\'s "x"' }],
  ['words of Python', "{'a': True, 'b': None}", { a: true, b: null }],
  ['a lone backslash', '{"a": "\\d+\\.js"}', { a: '\\d+\\.js' }],
  ['a code fence', '```json\n{"a": 1}\n```', { a: 1 }],
])('%s leaves one reading', (_what, text, value) => expect(readJson(text)).toEqual({ value }));

test.each([
  ['quotes inside', '{"a": "say "x" now"}', /expected a comma/],
  ['an open string', '{"a": "x', /inside a string/],
  ['a comma at the end', '{"a": 1,', /break off/],
  ['an open object without an entry', '{', /break off/],
  ['two objects', '{"a": 1} {"a": 2}', /more text/],
  ['prose after it', '{"a": 1} is what I meant', /more text/],
  ['two kinds of backslashes', '{"a": "\\d\\n"}', /single and double backslashes/],
  ['a key twice', "{'a': 1, 'a': 2}", /twice/],
  ['a bare word', '{"a": yes please}', /double quotes/],
  ['no JSON', 'read the file a.js', /double quotes/],
  ['depth', '['.repeat(1000), /deeper/],
])('%s leaves several readings', (_what, text, problem) => expect(readJson(text).problem).toMatch(problem));

describe('arguments', () => {
  const schema = z.strictObject({
    path: z.string(),
    startLine: z.int().min(1).optional(),
    all: z.boolean().optional(),
  });
  const leniency = { argumentNames: { path: ['file_path'] }, name: 'read' };
  const understood = (given: unknown) =>
    fitArguments(schema, typeof given === 'string' ? given : JSON.stringify(given), leniency);

  test.each([
    [{ filePath: 'a', start_line: '3', ALL: 'True' }],
    [{ arguments: { file_path: 'a', startLine: 3, all: 1 } }],
    [{ name: 'read', input: JSON.stringify({ path: 'a', startLine: 3, all: true }) }],
    [JSON.stringify(JSON.stringify({ path: 'a', startLine: 3, all: true }))],
    [[{ path: 'a', startLine: 3, all: 'yes', explanation: 'x' }]],
  ])('%j are understood', (given) =>
    expect(understood(given)).toEqual({ ok: true, value: { path: 'a', startLine: 3, all: true } }));

  test.each([
    [{ path: 'a', file_path: 'b' }, /two arguments mean path/],
    [{ path: 'a', other: 1 }, /other/],
    [{ path: 'a', constructor: 1, toString: 'x' }, /constructor/],
    [{ startLine: 3 }, /path[\s\S]*expected { path, startLine\?, all\? }/],
    [{ path: 'a', startLine: 'x' }, /startLine/],
    [[{ path: 'a' }, { path: 'b' }], /expected an object/],
    [{ path: 'a', arguments: { path: 'b' } }, /arguments/],
  ])('%j are refused', (given, problem) =>
    expect(understood(given)).toEqual({ ok: false, problem: expect.stringMatching(problem) }));
});

describe('refusals stay small', () => {
  const schema = z.strictObject({ steps: z.array(z.string()).max(50) });
  const problemWith = (text: string) => {
    const fitted = fitArguments(schema, text);
    return fitted.ok ? '' : fitted.problem;
  };

  test('the first five problems are named, and the others counted', () => {
    const problem = problemWith(JSON.stringify({ steps: Array(40).fill(0) }));
    expect(problem.match(/expected string/g)).toHaveLength(5);
    expect(problem).toMatch(/steps\[0\][\s\S]*and 35 more\nexpected { steps }$/);
  });

  test('a long problem is cut', () => {
    const problem = problemWith(JSON.stringify({ steps: [], ['x'.repeat(100_000)]: 1 }));
    expect(problem.length).toBeLessThan(2200);
    expect(problem).toMatch(/Unrecognized key: "x+…\nexpected { steps }$/);
  });

  test.each([
    ['JSON', JSON.stringify({ steps: Array(400_000).fill(0) })],
    ['JSON that is repaired', `{'steps': [${'0,'.repeat(400_000)}]}`],
    ['JSON that was encoded twice', JSON.stringify(JSON.stringify({ steps: Array(400_000).fill(0) }))],
  ])('%s with too many values is not checked value by value', (_what, text) => {
    const fitted = fitArguments(z.strictObject({ steps: z.array(z.string()) }), text);
    expect(fitted).toEqual({ ok: false, problem: expect.stringMatching(/more than 5000 values; send fewer/) });
  });

  test('a list as text is one item if it has too many values', () => {
    const steps = JSON.stringify(Array(400_000).fill(0));
    expect(fitArguments(schema, JSON.stringify({ steps }))).toEqual({ ok: true, value: { steps: [steps] } });
  });

  test('the commas and quotes of a long text are no values', () => {
    const text = `"a", 'b': [`.repeat(10_000);
    expect(fitArguments(schema, JSON.stringify({ steps: [text] }))).toEqual({ ok: true, value: { steps: [text] } });
    const inSingle = 'it, is: {'.repeat(10_000);
    expect(fitArguments(schema, `{'steps': ['${inSingle}']}`)).toEqual({ ok: true, value: { steps: [inSingle] } });
  });
});

test('tools are found by names that mean the same; hidden arguments are not offered', () => {
  const tools = { read_file: { names: ['cat'] }, cat_file: {} };
  for (const name of ['read_file', 'readFile', 'READ-FILE', 'functions.read_file', 'cat', 'Cat<|channel|>'])
    expect(findByName(tools, name)).toBe('read_file');
  for (const name of ['', 'constructor', 'read', 'toString']) expect(findByName(tools, name)).toBeUndefined();
  const schema = z.strictObject({ a: z.string(), b: z.string().optional().meta(hidden) });
  const [spec] = specsOf({ t: { description: 'd', arguments: schema } });
  expect(spec?.parameters).toMatchObject({ properties: { a: { type: 'string' } }, required: ['a'] });
  expect(JSON.stringify(spec)).not.toMatch(/hidden|"b"/);
});
