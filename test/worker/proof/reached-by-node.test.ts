const program = new URL('../../../src/worker/proof/inside/reached-by-node.mjs', import.meta.url).href;
const { ofNewTests, reaches } = await import(program);

describe('what V8 counted', () => {
  const text = 'const a = 1;\nfunction f(x) {\n  if (x) {\n    return 1;\n  }\n  return 2;\n}\nconst g = () => 3;\n';
  const range = (from: string, to: string, count: number) => ({
    startOffset: text.indexOf(from),
    endOffset: text.indexOf(to) + to.length,
    count,
  });
  const functions = (f: number, branch: number, g: number) => [
    { ranges: [{ startOffset: 0, endOffset: text.length, count: 1 }] },
    {
      ranges: [
        range('function f', 'return 2;\n}', f),
        ...(f > 0 ? [range('{\n    return 1;', 'return 1;\n  }', branch)] : []),
      ],
    },
    { ranges: [range('() => 3', '() => 3', g)] },
  ];
  test.each<[string, number[], number[], [number, number, number], boolean]>([
    ['a line of the module', [1], [], [0, 0, 0], true],
    ['the first line of a function that was not called', [2], [], [0, 0, 0], false],
    ['the first line of a function that was called', [2], [], [1, 0, 0], true],
    ['a branch that was not taken', [4], [], [1, 0, 0], false],
    ['a branch that was taken', [4], [], [2, 1, 0], true],
    ['one of several lines', [4, 6], [], [1, 0, 0], true],
    ['a function on one line that was not called', [8], [], [1, 1, 0], false],
    ['a cut in a function that was not called', [], [6], [0, 0, 0], false],
    ['a cut in a function that was called', [], [6], [1, 0, 0], true],
    ['a cut before a function', [], [2], [0, 0, 0], true],
    ['a cut at the end', [], [99], [0, 0, 0], true],
  ])('%s', (_what, lines, cuts, counts, isReached) => {
    expect(reaches(functions(...counts), text, { lines, cuts })).toBe(isReached);
  });

  test('in a program that was compiled before it ran, any line may have run', () => {
    expect(reaches(functions(0, 0, 0), `${text}// source map`, { lines: [4], cuts: [] })).toBe(true);
  });
});

const tests = ['new.test.js'];
test.each<[string, string[], boolean[]]>([
  ['a process that ran a new test', ['new.test.js', 'a.js'], [true, true]],
  ['one that ran an older test', ['old.test.js', 'a.js'], [false, false]],
  ['one that ran no test', ['a.js'], [true]],
  ['one that ran both, and loaded all files once', ['old.test.js', 'a.js', 'new.test.js'], [true, true, true]],
  [
    'one of Jest, which loads files again for each test file',
    ['node_modules/jest-runtime/build/index.js', 'old.test.js', 'a.js', 'new.test.js', 'b.js'],
    [true, false, false, true, true],
  ],
  [
    'one of Jest, with a file that its set-up loads before each test file',
    ['node_modules/jest-runtime/build/index.js', 'a.js', 'old.test.js', 'a.js', 'new.test.js'],
    [true, true, false, true, true],
  ],
])('of %s, the right scripts count', (_what, names, counts) => expect(ofNewTests(names, tests)).toEqual(counts));
