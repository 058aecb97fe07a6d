import { namesSubmodule } from '../../../src/domain/text/names-submodule.ts';

test.each<[string, boolean]>([
  ['Bump the submodule vendor/lib to v2', true],
  ['Update submodules (`vendor/lib/`, `lib2`).', true],
  ['Submodule: lib.', true],
  ['the lib submodule', true],
  ['Bump vendor/lib to v2', false],
  ['Bump the submodule', false],
  ['the submodule library, and vendor/lib2', false],
  ['the submodule at other/lib', false],
  ['see vendor/lib/README.md about submodules', false],
  ['submodule @lib, lib-core, lib.js, mylib', false],
  ['the submoduleslib', false],
])('%s', (text, isNamed) => {
  expect(namesSubmodule(text, 'vendor/lib')).toBe(isNamed);
});
