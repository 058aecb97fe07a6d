import { structuredPatch } from 'diff';
import { compareTests } from '../../../src/domain/proof/tests/lost-tests.ts';

const hunksOf = (old: string, now: string) =>
  structuredPatch('', '', old, now, '', '', { context: 3 })?.hunks.map(({ lines }) => lines) ?? [];
const compared = (path: string, old: string, now: string) => compareTests(path, old, hunksOf(old, now));

const js = `import assert from 'node:assert/strict';
import test from 'node:test';
import { price } from 'shop/price.js';

test('price is in euros', () => {
  assert.equal(price(200), 2);
  assert.deepEqual(price({ cents: 5, tax: true }), { euros: 0.05, tax: 1 });
});

test('price of nothing', () => {
  assert.equal(price(0), 0);
});
`;
const more = `
test('price is rounded', () => {
  const found = price(299);
  if (found) assert.equal(found, 3);
});
`;
const python = `import unittest
from shop import price

class Prices(unittest.TestCase):
    def test_euros(self):
        self.assertEqual(price(200), 2)
        self.assertTrue(price(1) < 2)

    def test_nothing(self):
        assert price(0) == 0
`;
const go = `package shop

func TestPrice(t *testing.T) {
	for _, c := range []struct{ in, want int }{
		{in: 200, want: 2},
		{in: 0, want: 0},
	} {
		if got := Price(c.in); got != c.want {
			t.Errorf("Price(%d) = %d, want %d", c.in, got, c.want)
		}
	}
}
`;
const ruby = `describe Price do
  it 'is in euros' do
    expect(price(200)).to eq(2)
  end

  it 'knows nothing' do
    assert_equal 0, price(0)
  end
end
`;

const object = `import {
  price,
  tax,
} from 'shop/price.js';

test('price', () => {
  assert.deepEqual(price(1), {
    euros: 1,
    cents: 2,
  });
  assert.equal(
    { euros: 1 },
    price(2),
  );
});
`;
const bare = `test('f', () => {
  assert.equal(f(), 1)
  assert.equal(g(), 1)
  expect(h(1))
    .toBe(1)
})
`;
const java = `class ATest {
  @Test
  void f() {
    assertEquals(1, f());
  }

  @Test
  void g() {
    assertEquals(1, g());
  }
}
`;
const c = `int test_f() {
  assert(f(1) == 2);
  assert(g(1) == 3);
}
`;

const honest: [string, string, string, string, string][] = [
  ['an expected value', 'a.test.js', js, 'price(200), 2', 'price(200), 200'],
  ['an expected object, with one key more', 'a.test.js', js, '{ euros: 0.05, tax: 1 }', '{ euros: 5, tax: 1, at: 3 }'],
  [
    'a title and its value',
    'a.test.js',
    js,
    "'price of nothing', () => {\n  assert.equal(price(0), 0",
    "'price of zero', () => {\n  assert.equal(price(0), null",
  ],
  ['a value, and a new test', 'a.test.js', js, 'price(0), 0);\n});\n', `price(0), null);\n});\n${more}`],
  [
    'a new name of an import',
    'a.test.js',
    js,
    "{ price } from 'shop/price.js';",
    "{ price, tax } from 'shop/price.js';",
  ],
  ['an expected value in Python', 'test_a.py', python, 'price(200), 2)', 'price(200), 200)'],
  ['a value after a comparison', 'test_a.py', python, 'price(0) == 0', 'price(0) == None'],
  [
    'a value and a new test in Python',
    'test_a.py',
    python,
    'price(0) == 0\n',
    'price(0) == 1\n\n    def test_more(self):\n        if price(3):\n            self.assertEqual(price(3), 1)\n',
  ],
  ['a row of a table in Go', 'a_test.go', go, 'want: 2}', 'want: 200}'],
  ['a new row between others', 'a_test.go', go, '\t\t{in: 0', '\t\t{in: 300, want: 3},\n\t\t{in: 0'],
  ['a new row after others', 'a_test.go', go, 'want: 0},\n', 'want: 0},\n\t\t{in: 300, want: 3},\n'],
  [
    'a new assertion',
    'a.test.js',
    js,
    '  assert.equal(price(0)',
    '  assert.equal(price(9), 0.09);\n  assert.equal(price(0)',
  ],
  ['a new test before others', 'a.test.js', js, "\ntest('price is", `${more}\ntest('price is`],
  ['a new test between others', 'a.test.js', js, "\ntest('price of", `${more}\ntest('price of`],
  ['a note', 'a.test.js', js, '  assert.equal(price(0)', '  // Nothing is free.\n  assert.equal(price(0)'],
  [
    'a note of several lines',
    'a.test.js',
    js,
    '  assert.equal(price(0)',
    '  /* Nothing\n   * is free. */\n  assert.equal(price(0)',
  ],
  [
    'a new test with a text of several lines',
    'a.test.js',
    js,
    "\ntest('price of",
    "\ntest('reads (', () => {\n  assert.equal(read(`(\n  [\n`), 'a (');\n});\n\ntest('price of",
  ],
  ['a new key of an expected object', 'b.test.js', object, '    euros: 1,\n', '    euros: 100,\n    rest: 3,\n'],
  ['a new name in a long import', 'b.test.js', object, '  price,\n', '  price,\n  taxes,\n'],
  [
    'a new assertion without semicolons',
    'c.test.js',
    bare,
    '  assert.equal(g()',
    '  assert.equal(h(), 2)\n  assert.equal(g()',
  ],
  [
    'a new test with a docstring in Python',
    'test_a.py',
    python,
    '    def test_nothing',
    '    @given(1)\n    def test_more(self):\n        """\n        Says (more.\n        """\n        assert price(3) == 1\n\n    def test_nothing',
  ],
  [
    'a new class in Python',
    'test_a.py',
    python,
    '\nclass',
    '\nclass More(Rest):\n    def test_b(self):\n        assert price(3)\n\nclass',
  ],
  [
    'a new test in Ruby',
    'a_spec.rb',
    ruby,
    "  it 'knows",
    "  it 'is more' do\n    expect(price(1)).to eq(3)\n  end\n\n  it 'knows",
  ],
  [
    'a new test in Java',
    'ATest.java',
    java,
    '  @Test\n  void g',
    '  @Test\n  void h() {\n    assertEquals(3, h());\n  }\n\n  @Test\n  void g',
  ],
  ['an expected value in Ruby', 'a_spec.rb', ruby, 'eq(2)', 'eq(200)'],
  ['an expected value before the call', 'a_spec.rb', ruby, 'assert_equal 0, ', 'assert_equal nil, '],
];
describe('honest changes of expectations lose nothing', () => {
  test.each(honest)('%s', (_name, path, old, from, to) => {
    expect(old).toContain(from);
    expect(compared(path, old, old.replace(from, to)).lost).toBeUndefined();
  });
  test('which expectations changed is known', () => {
    const found = compared(
      'a.test.js',
      js,
      js.replace("'price of nothing'", "'price of zero'").replace('(0), 0', '(0), 1'),
    );
    expect(found).toEqual({
      hasChanged: true,
      renamed: [
        ["'price of nothing'", "'price of zero'"],
        ['0', '1'],
      ],
    });
    expect(compared('a.test.js', js, js + more)).toEqual({ hasChanged: false, renamed: [] });
  });
  test('an assertion that is turned into its opposite is as strong', () => {
    const old = "test('a', () => {\n  assert.ok(isValid('a'));\n  expect(f()).toBeTruthy();\n});\n";
    const now = "test('a', () => {\n  assert.ok(!isValid('a'));\n  expect(f()).toBeFalsy();\n});\n";
    expect(compared('a.test.js', old, now).lost).toBeUndefined();
  });
});

const nothing = "test('price of nothing', () => {\n  assert.equal(price(0), 0);\n});\n";
const cheats: [string, string, string, string, string][] = [
  ['an assertion is removed', 'a.test.js', js, '  assert.equal(price(200), 2);\n', ''],
  ['a test is removed', 'a.test.js', js, nothing, ''],
  [
    'another test takes its place',
    'a.test.js',
    js,
    nothing,
    "test('price of much', () => {\n  assert.equal(price(900), 9);\n});\n",
  ],
  [
    'a test is commented out',
    'a.test.js',
    js,
    "test('price of nothing', () => {\n  assert.equal(price(0), 0);\n});",
    "// test('price of nothing', () => {\n//  assert.equal(price(0), 0);\n// });",
  ],
  ['a comment begins before it and ends after it', 'a.test.js', js, nothing, `/*\n${nothing}*/\n`],
  ['a text begins before it and ends after it', 'a.test.js', js, nothing, `const x = \`\n${nothing}\`;\n`],
  ['a weaker assertion', 'a.test.js', js, 'equal(price(200), 2)', 'ok(price(200))'],
  ['a weaker comparison', 'a.test.js', js, 'equal(price(200), 2)', 'notEqual(price(200), 3)'],
  ['another input', 'a.test.js', js, 'price(200), 2', 'price(2), 2'],
  ['another input in an object', 'a.test.js', js, '{ cents: 5, tax: true })', '{ cents: 5, tax: false })'],
  ['the call on both sides', 'a.test.js', js, 'price(200), 2', 'price(200), price(200)'],
  ['no call at all', 'a.test.js', js, 'price(200), 2', '2, 2'],
  ['a choice that always holds', 'a.test.js', js, 'price(200), 2', 'price(200) || 2, 2'],
  [
    'an early return',
    'a.test.js',
    js,
    '  assert.equal(price(200), 2);\n',
    '  return;\n  assert.equal(price(200), 200);\n',
  ],
  [
    'a condition',
    'a.test.js',
    js,
    '  assert.equal(price(200), 2);\n',
    '  if (false)\n  assert.equal(price(200), 200);\n',
  ],
  ['a condition that ends a block', 'a.test.js', js, nothing, `if (false) {\n${nothing}}\n`],
  ['another module', 'a.test.js', js, "'shop/price.js'", "'fake/price.js'"],
  [
    'other assertions',
    'a.test.js',
    js,
    "import assert from 'node:assert/strict';",
    "import assert from 'fake/assert.js';",
  ],
  [
    'a name that earlier tests use',
    'a.test.js',
    js,
    '  assert.equal(price(200), 2);\n',
    '  const price = () => 2;\n  assert.equal(price(200), 3);\n',
  ],
  ['assertions that do nothing', 'a.test.js', js, "\ntest('price of", "\nassert.equal = () => {};\ntest('price of"],
  ['a mock', 'a.test.js', js, "\ntest('price of", "\nmock.method(assert, 'equal', () => {});\ntest('price of"],
  ['an end of the process', 'a.test.js', js, "\ntest('price of", "\nprocess.exit();\ntest('price of"],
  ['a hook', 'a.test.js', js, "\ntest('price of", "\nbeforeEach(() => {\n  x.y = 1;\n});\ntest('price of"],
  ['an assertion is removed in Python', 'test_a.py', python, '        self.assertEqual(price(200), 2)\n', ''],
  ['a comparison is removed', 'test_a.py', python, 'price(0) == 0', 'price(0)'],
  [
    'a test is shadowed',
    'test_a.py',
    python,
    'price(0) == 0\n',
    'price(0) == 1\n\n    def test_nothing(self):\n        pass\n',
  ],
  ['an early return in Python', 'test_a.py', python, '        assert price', '        return\n        assert price'],
  [
    'a text that is no comment',
    'test_a.py',
    python,
    '        assert price(0) == 0\n',
    '        """\n        assert price(0) == 0\n        """\n',
  ],
  ['another function of the same name', 'test_a.py', python, '\nclass', '\nprice = int\nclass'],
  ['a row of a table is removed', 'a_test.go', go, '\t\t{in: 0, want: 0},\n', ''],
  ['another row', 'a_test.go', go, '{in: 200, want: 2}', '{in: 300, want: 3}'],
  ['a comparison that never differs', 'a_test.go', go, 'got != c.want', 'got != got'],
  ['a build tag', 'a_test.go', go, 'package shop', '//go:build never\n\nif package shop'],
  ...['0 &&', 'true ||', '() =>', 'async () =>', 'void 0,', 'x = () =>', 'g(1) ?', 'note:', 'typeof', '// */ /*'].map(
    (line): (typeof cheats)[number] => [
      `the new line ${line} before it`,
      'a.test.js',
      js,
      '  assert.equal(price(200), 2);\n',
      `  ${line}\n  assert.equal(price(200), 200);\n`,
    ],
  ),
  ...[
    ['/* note', '*/'],
    ['`', '`;'],
    ['// `', 'g(`'],
    ['/`/.test(``);', '`;'],
    ['g(() => {', '});'],
    ['});', 'g(() => {'],
    ['g(', ');'],
    ['[', '];'],
  ].map(([before, after]): (typeof cheats)[number] => [
    `${before} before it and ${after} after it`,
    'a.test.js',
    js,
    '  assert.equal(price(200), 2);\n',
    `  ${before}\n  assert.equal(price(200), 200);\n  ${after}\n`,
  ]),
  ['a note that begins after one line and ends after another', 'a.test.js', js, nothing, `// */\n${nothing}/* */\n`],
  [
    'a note on its line',
    'c.test.js',
    bare,
    'f(), 1)\n  assert.equal(g(), 1)',
    'f(), 2) /*\n  assert.equal(g(), 1) // */',
  ],
  ['a call in the middle of an assertion', 'c.test.js', bare, '    .toBe', '    expect(1)\n    .toBe'],
  ['an argument before others', 'b.test.js', object, '    { euros: 1 },\n', '    { euros: 1 },\n    { euros: 1 },\n'],
  ['a key that overrides an expected one', 'b.test.js', object, '    cents: 2,\n', '    cents: 2,\n    euros: 100,\n'],
  ['a decorator', 'test_a.py', python, '    def test_nothing', '    @(lambda f: None)\n    def test_nothing'],
  [
    'a choice over two lines in Python',
    'test_a.py',
    python,
    '        self.assertEqual',
    '        False and \\\n        self.assertEqual',
  ],
  [
    'a new function around it in Python',
    'test_a.py',
    python,
    '        self.assertTrue',
    '    def other(self):\n        1\n        self.assertTrue',
  ],
  [
    'a new class around it in Python',
    'test_a.py',
    python,
    '    def test_nothing',
    '\nclass Other:\n    x = 1\n\n    def test_nothing',
  ],
  ['a choice over two lines in Ruby', 'a_spec.rb', ruby, '    assert_equal', '    false &&\n    assert_equal'],
  [
    'a new function around it in Ruby',
    'a_spec.rb',
    ruby,
    '    assert_equal 0, price(0)\n',
    '    def other\n    assert_equal 1, price(0)\n    end\n',
  ],
  [
    'an end before it in Ruby',
    'a_spec.rb',
    ruby,
    '    assert_equal 0, price(0)\n',
    '    end\n    other do\n    assert_equal 1, price(0)\n',
  ],
  ['a note that goes on in the next line', 'f_test.c', c, '  assert(f', '  // note \\\n  assert(f'],
  ['a note on its line that goes on', 'f_test.c', c, '== 2);', '== 3); // note \\'],
  ['another meaning of assert', 'f_test.c', c, 'int test', '#define assert(x) 0\nint test'],
  ['an annotation', 'ATest.java', java, '  @Test\n  void g', '  @Test\n  @Tag("slow")\n  void g'],
  ['a function that takes its annotation', 'ATest.java', java, '  void g', '  void h() {\n  }\n  void g'],
  ['an early next in Ruby', 'a_spec.rb', ruby, '    assert_equal 0', '    next\n    assert_equal 0'],
  ['a negation', 'a_spec.rb', ruby, '.to eq(2)', '.not_to eq(3)'],
];
test.each(cheats)('it counts as lost when there is %s', (_name, path, old, from, to) => {
  expect(old).toContain(from);
  expect(compared(path, old, old.replace(from, to)).lost).toEqual(expect.any(String));
});

test('hostile lines take linear time', () => {
  const begun = performance.now();
  for (const part of ['(', '"', '`', '${', "'\\", 'a.', '/*', '= ', 'const a, ', '{ a: 1, ']) {
    const old = `${part.repeat(500)}\n`.repeat(40);
    compared('a.test.js', old, old.replaceAll(part, `${part}1`));
  }
  expect(performance.now() - begun).toBeLessThan(20_000);
});
