import { differsInDeciding } from '../../../src/domain/proof/manifests.ts';
import { isForTools, reachNoTool } from '../../../src/domain/proof/reachable.ts';
import { holdsOnlySnapshots } from '../../../src/domain/proof/tests/snapshots.ts';

test.each([
  'node --test',
  'npm test',
  'npm ci',
  'cd packages/a\nnpx jest --ci',
  'set -e\nCI=1 python3 -m pytest -q',
  'eslint . && tsc --noEmit && vitest run',
  'go vet ./... && go test ./...',
  'pip install -r requirements.txt',
])('%s reaches no build tool', (text) => expect(reachNoTool([text])).toBe(true));

test.each([
  'make test',
  'ctest',
  'node tools/run.js',
  'node --require ./hook.js --test',
  'sh check.sh',
  './gradlew test',
  'npm run "test:*"',
  'npm exec cmake-js',
  'yarn cmake-js',
  'npm install left-pad',
  'python setup.py test',
  'pip install -e .',
  'go generate ./...',
  'cargo test',
  'npm test; $RUN',
  'constructor',
])('%s may reach one', (text) => expect(reachNoTool(['node --test', text])).toBe(false));

test('which files only build tools read', () => {
  for (const path of ['CMakeLists.txt', 'lib/meson.build', 'Makefile', 'a/b.mk', 'docs/Makefile', 'x.cmake'])
    expect([path, isForTools(path)]).toEqual([path, true]);
  for (const path of ['jest.config.js', 'conftest.py', '.npmrc', 'Makefile.js', 'tox.ini', 'setup.cfg'])
    expect([path, isForTools(path)]).toEqual([path, false]);
});

test('scripts of package.json decide if the checks run them, or npm does by itself', () => {
  const manifest = (scripts: object) => JSON.stringify({ name: 'a', scripts });
  const differs = (before: object, after: object, commands?: string[]) =>
    differsInDeciding('package.json', manifest(before), manifest(after), {
      ...{ words: new Set(), isNewFolder: false },
      ...(commands === undefined ? {} : { commands }),
    });
  const before = { test: 'npm run unit', unit: 'node --test', docs: 'typedoc' };
  expect(differs(before, { ...before, docs: 'typedoc src' }, ['npm test'])).toBe(false);
  expect(differs(before, { ...before, format: 'prettier .' }, ['npm test'])).toBe(false);
  expect(differs(before, { ...before, docs: 'typedoc src' })).toBe(true);
  for (const more of [{ unit: 'true' }, { pretest: 'true' }, { postinstall: 'x' }, { prepare: 'x' }, { preunit: 'x' }])
    expect([more, differs(before, { ...before, ...more }, ['npm test'])]).toEqual([more, true]);
  expect(differs({ test: 'a' }, { test: { a: 1 } }, ['npm test'])).toBe(true);
});

test('files of snapshots hold nothing but snapshots', () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a snapshot
  const jest = '// Jest Snapshot v1\n\nexports[`a 1`] = `\n<div>\\`x\\` \\${y}</div> $z\n`;\n\nexports[`b 1`] = `2`;\n';
  expect(holdsOnlySnapshots('a/__snapshots__/a.test.js.snap', jest)).toBe(true);
  expect(holdsOnlySnapshots('a.snap', '---\nsource: a.rs\n---\n1\n')).toBe(true);
  expect(holdsOnlySnapshots('a.approved.txt', 'anything')).toBe(true);
  for (const text of [
    `${jest}process.exit(0);`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a snapshot
    'exports[`a`] = `${process.exit(0)}`;',
    'exports[`a`] = process.exit(0);',
    'exports[`a`] = `x`, process.exit(0);',
    '// a\u2028process.exit(0)',
    '// a\rprocess.exit(0)',
    'exports[`a`] = `x',
  ])
    expect([text, holdsOnlySnapshots('a.snap', text)]).toEqual([text, false]);
  expect(holdsOnlySnapshots('a.snap', `${'exports[`a`] = `\\\\`;'.repeat(5000)}x`)).toBe(false);
});
