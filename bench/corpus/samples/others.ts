import { existsSync } from 'node:fs';
import { type Case, type Functions, filesOf, type Language, type Sample } from '../sample.ts';

const lines = (...all: string[]) => `${all.flat().join('\n')}\n`;
const upper = (name: string) => name[0]?.toUpperCase() + name.slice(1);

const go: Language = {
  source: 'numbers.go',
  test: 'numbers_test.go',
  code: ({ factor, hasTriple }) =>
    lines(
      'package numbers',
      '',
      `func Double(n int) int { return n * ${factor} }`,
      ...(hasTriple ? ['', 'func Triple(n int) int { return n * 3 }'] : []),
    ),
  tests: (cases) =>
    lines(
      'package numbers',
      '',
      'import "testing"',
      ...cases.flatMap(({ name, given, result }) => [
        '',
        `func Test${upper(name)}Of${given}(t *testing.T) {`,
        `\tif ${upper(name)}(${given}) != ${result} {`,
        `\t\tt.Fatal(${upper(name)}(${given}))`,
        '\t}',
        '}',
      ]),
    ),
};

const rust: Language = {
  source: 'src/lib.rs',
  test: 'tests/numbers.rs',
  code: ({ factor, hasTriple }) =>
    lines(
      `pub fn double(n: i64) -> i64 {\n    n * ${factor}\n}`,
      ...(hasTriple ? ['\npub fn triple(n: i64) -> i64 {\n    n * 3\n}'] : []),
    ),
  tests: (cases) =>
    lines(
      ...cases.map(
        ({ name, given, result }) =>
          `#[test]\nfn ${name}_of_${given}() {\n    assert_eq!(sample::${name}(${given}), ${result});\n}\n`,
      ),
    ),
};

const c: Language = {
  source: 'numbers.c',
  test: 'test/numbers_test.c',
  code: ({ factor, hasTriple }) =>
    lines(
      '#include "numbers.h"',
      `int dbl(int n) { return n * ${factor}; }`,
      ...(hasTriple ? ['int triple(int n) { return n * 3; }'] : []),
    ),
  tests: (cases) =>
    lines(
      '#include <assert.h>',
      '#include "../numbers.h"',
      'int main(void) {',
      ...cases.map(
        ({ name, given, result }) => `  assert(${name === 'double' ? 'dbl' : name}(${given}) == ${result});`,
      ),
      '  return 0;',
      '}',
    ),
};

const perl: Language = {
  source: 'lib/Numbers.pm',
  test: 't/numbers.t',
  code: ({ factor, hasTriple }) =>
    lines(
      'package Numbers;',
      `sub double { return $_[0] * ${factor} }`,
      ...(hasTriple ? ['sub triple { return $_[0] * 3 }'] : []),
      '1;',
    ),
  tests: (cases) =>
    lines(
      'use strict;\nuse warnings;\nuse Test::More;\nuse Numbers;',
      ...cases.map(({ name, given, result }) => `is(Numbers::${name}(${given}), ${result}, '${name} of ${given}');`),
      'done_testing;',
    ),
};

const pythonCode = ({ factor, hasTriple }: Functions) =>
  lines(`def double(n):\n    return n * ${factor}`, ...(hasTriple ? ['\n\ndef triple(n):\n    return n * 3'] : []));

const unittest: Language = {
  source: 'numbers_of.py',
  test: 'test_numbers.py',
  code: pythonCode,
  tests: (cases) =>
    lines(
      'import unittest\n\nimport numbers_of\n\n\nclass Numbers(unittest.TestCase):',
      ...cases.map(
        ({ name, given, result }) =>
          `    def test_${name}_of_${given}(self):\n        self.assertEqual(numbers_of.${name}(${given}), ${result})\n`,
      ),
      '\nif __name__ == "__main__":\n    unittest.main()',
    ),
};

/** pytest runs tests of unittest, too, and is tried first where the machine has it. */
const usualPython = existsSync('/usr/bin/pytest-3') ? 'python3 -m pytest' : 'python3 -m unittest';

const pytest: Language = {
  source: 'numbers_of.py',
  test: 'test_numbers.py',
  code: pythonCode,
  tests: (cases) =>
    lines(
      'import numbers_of\n',
      ...cases.map(
        ({ name, given, result }) =>
          `\ndef test_${name}_of_${given}():\n    assert numbers_of.${name}(${given}) == ${result}\n`,
      ),
    ),
};

const ruby: Language = {
  source: 'lib/numbers.rb',
  test: 'test/numbers_test.rb',
  code: ({ factor, hasTriple }) =>
    lines(
      'module Numbers',
      `  def self.double(n) = n * ${factor}`,
      ...(hasTriple ? ['  def self.triple(n) = n * 3'] : []),
      'end',
    ),
  tests: (cases) =>
    lines(
      "require 'minitest/autorun'\nrequire_relative '../lib/numbers'\n\nclass NumbersTest < Minitest::Test",
      ...cases.map(
        ({ name, given, result }) =>
          `  def test_${name}_of_${given}\n    assert_equal ${result}, Numbers.${name}(${given})\n  end\n`,
      ),
      'end',
    ),
};

const deno: Language = {
  source: 'numbers.ts',
  test: 'numbers_test.ts',
  code: ({ factor, hasTriple }) =>
    lines(
      `export const double = (n: number) => n * ${factor};`,
      ...(hasTriple ? ['export const triple = (n: number) => n * 3;'] : []),
    ),
  tests: (cases: Case[]) =>
    lines(
      `import { ${[...new Set(cases.map(({ name }) => name))].join(', ')} } from './numbers.ts';\n`,
      ...cases.map(
        ({ name, given, result }) =>
          `Deno.test('${name} of ${given}', () => {\n  if (${name}(${given}) !== ${result}) throw new Error(String(${name}(${given})));\n});\n`,
      ),
    ),
};

export const others: Sample[] = [
  {
    name: 'go',
    about: 'a module of Go',
    needs: ['go'],
    files: { 'go.mod': 'module example.org/numbers\n\ngo 1.19\n', ...filesOf(go) },
    expected: { setup: ['go mod download && go build std'], checks: ['go test ./...'] },
    language: go,
  },
  {
    name: 'cargo',
    about: 'a crate of Rust',
    needs: ['cargo'],
    files: {
      'Cargo.toml': '[package]\nname = "sample"\nversion = "1.0.0"\nedition = "2021"\n',
      'Cargo.lock':
        '# This file is automatically @generated by Cargo.\n# It is not intended for manual editing.\nversion = 3\n\n[[package]]\nname = "sample"\nversion = "1.0.0"\n',
      '.gitignore': 'target/\n',
      ...filesOf(rust),
    },
    expected: { setup: ['cargo fetch --locked'], checks: ['cargo test'] },
    language: rust,
  },
  {
    name: 'make',
    about: 'C, with a Makefile',
    needs: ['make', 'cc'],
    files: {
      Makefile:
        'test: build/test\n\t./build/test\n\nbuild/test: numbers.c numbers.h test/numbers_test.c\n\tmkdir -p build\n\t$(CC) -o $@ numbers.c test/numbers_test.c\n\n.PHONY: test\n',
      'numbers.h': 'int dbl(int n);\nint triple(int n);\n',
      '.gitignore': 'build/\n',
      ...filesOf(c),
    },
    expected: { setup: [], checks: ['make test'] },
    language: c,
  },
  {
    name: 'perl',
    about: 'Perl, with tests in t',
    needs: ['prove'],
    files: filesOf(perl),
    expected: { setup: [], checks: ['prove -lr t'] },
    language: perl,
  },
  {
    name: 'python-unittest',
    about: 'Python without any manifest',
    needs: ['python3'],
    files: filesOf(unittest),
    expected: { setup: [], checks: [usualPython] },
    language: unittest,
  },
  {
    name: 'python-pytest',
    about: 'tests of pytest, which the machine has',
    needs: ['python3', 'pytest-3'],
    files: { 'pyproject.toml': '[project]\nname = "sample"\nversion = "1.0.0"\n', ...filesOf(pytest) },
    expected: { setup: [], checks: ['python3 -m pytest'] },
    language: pytest,
  },
  {
    name: 'python-uv',
    about: 'a lock file of uv, and no pytest in it',
    needs: ['uv'],
    files: {
      'pyproject.toml': '[project]\nname = "sample"\nversion = "1.0.0"\nrequires-python = ">=3.9"\n',
      'uv.lock':
        'version = 1\nrequires-python = ">=3.9"\n\n[[package]]\nname = "sample"\nversion = "1.0.0"\nsource = { virtual = "." }\n',
      ...filesOf(unittest),
    },
    expected: { setup: ['uv sync --frozen'], checks: ['uv run --no-sync python -m unittest'] },
    language: unittest,
  },
  {
    name: 'python-side-folders',
    about: 'requirements in side folders, which nobody needs',
    needs: ['python3'],
    files: {
      'pyproject.toml': '[project]\nname = "sample"\nversion = "1.0.0"\n',
      'benchmark/requirements.txt': 'no-such-package-anywhere==1.0\n',
      'docs/requirements.txt': 'no-such-package-anywhere==1.0\n',
      ...filesOf(unittest),
    },
    expected: { setup: [], checks: [usualPython] },
    language: unittest,
  },
  {
    name: 'ruby',
    about: 'a Rakefile and Minitest',
    needs: ['ruby', 'rake'],
    files: {
      Rakefile: "require 'rake/testtask'\n\nRake::TestTask.new do |t|\n  t.pattern = 'test/*_test.rb'\nend\n",
      ...filesOf(ruby),
    },
    expected: { setup: [], checks: ['rake test'] },
    language: ruby,
  },
  {
    name: 'deno',
    about: 'a deno.json',
    needs: ['deno'],
    files: { 'deno.json': '{}\n', ...filesOf(deno) },
    expected: { setup: ['deno install'], checks: ['deno test'] },
    language: deno,
  },
  {
    name: 'documents',
    about: 'texts only',
    needs: [],
    files: { 'README.md': '# Documents\n', 'docs/guide.md': '# Guide\n' },
    expected: { setup: [], checks: [] },
  },
];
