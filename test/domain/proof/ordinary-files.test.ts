import { isOrdinary, projectRoots } from '../../../src/domain/proof/ordinary-files.ts';

const roots = projectRoots([
  'README.md',
  'web/package.json',
  'crates/a/Cargo.toml',
  'src/App/App.csproj',
  'services/api/Pipfile',
  'src/a.js',
]);

test('tools may look into the root of the repository, and into folders with a manifest', () => {
  expect(roots).toEqual(new Set(['', 'web', 'crates/a', 'src/App', 'services/api']));
});

test.each([
  'build.rs',
  'crates/a/build.rs',
  'build.zig',
  '.config/nextest.toml',
  '.postcssrc',
  'web/.postcssrc.json',
  'postcss.config.mjs',
  'web/next.config.ts',
  'craco.config.js',
  'config-overrides.js',
  'gulpfile.js',
  'jsconfig.json',
  'import_map.json',
  'global.json',
  'src/App/App.csproj',
  'services/api/Pipfile',
  'shop.gemspec',
  '.proverc',
  '.storybook/main.ts',
  'quiet',
  'quiet.unknown',
])('%s may be loaded by a tool', (path) => expect(isOrdinary(path, roots)).toBe(false));

test.each([
  'src/price.js',
  'price.go',
  'app.py',
  'web/server.ts',
  'crates/a/src/build.rs',
  'src/app/app.config.ts',
  'src/locales/en.json',
  'config/routes.rb',
  'bin/price',
  'README',
  'docs/guide.md',
  'schema.graphql',
  'migrations/0001.sql',
  'package-lock.json',
  'web/yarn.lock',
  '.gitignore',
  'web/.env.example',
  '.github/workflows/test.yml',
  '.deckhand.yml',
  'Dockerfile',
  'rustfmt.toml',
])('%s is ordinary', (path) => expect(isOrdinary(path, roots)).toBe(true));
