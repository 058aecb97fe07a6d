import { detectSetup, isKnownCacheFile, pinning } from '../../src/environment/detect.ts';

test.each([
  [['README.md', 'src/package-lock.json/x'], []],
  [['package-lock.json'], ['npm ci']],
  [['npm-shrinkwrap.json', 'web/yarn.lock'], ['npm ci']],
  [['package-lock.json', 'pnpm-lock.yaml'], ['pnpm install --frozen-lockfile']],
  [['yarn.lock'], ['yarn install --frozen-lockfile']],
  [['yarn.lock', '.yarnrc.yml'], ['yarn install --immutable']],
  [['bun.lock', 'package-lock.json'], ['bun install --frozen-lockfile']],
  [['uv.lock', 'requirements.txt'], ['uv sync --frozen']],
  [['poetry.lock'], ['poetry install --no-interaction']],
  [['requirements.txt'], ['PIP_BREAK_SYSTEM_PACKAGES=1 pip3 install --user -r requirements.txt']],
  [['go.mod'], ['go mod download && go build std']],
  [['Cargo.lock'], ['cargo fetch --locked']],
  [['Gemfile.lock'], ['bundle config set --global path "$HOME/.gems" && bundle install']],
  [['composer.lock'], ['composer install --no-interaction --no-progress']],
  [
    ['go.mod', 'package-lock.json'],
    ['npm ci', 'go mod download && go build std'],
  ],
  [
    ['web/package-lock.json', 'api/go.mod', 'a/b/Cargo.lock'],
    ['cd api && go mod download && go build std', 'cd web && npm ci'],
  ],
  [["it's; -x/go.mod"], ["cd './it'\\''s; -x' && go mod download && go build std"]],
  [['-x/go.mod'], ["cd './-x' && go mod download && go build std"]],
])('%j', async (files, commands) => {
  expect((await detectSetup(files)).commands.map(({ command }) => command)).toEqual(commands);
});

test('known lock and version files count at the root and one level down', () => {
  const known = ['package-lock.json', 'web/package.json', '.nvmrc', 'go.sum'];
  expect([...known, 'a/b/go.sum', 'src/index.js', 'Package-lock.json'].filter(isKnownCacheFile)).toEqual(known);
});

test.each([
  // Without a lock file.
  [['package.json'], ['npm install --no-package-lock']],
  [['package.json', 'pnpm-workspace.yaml'], ['pnpm install --no-frozen-lockfile']],
  [['deno.json', 'package.json'], ['deno install']],
  [['deno.json', 'deno.lock'], ['deno install --frozen']],
  [['Cargo.toml'], ['cargo fetch']],
  [['Gemfile'], ['bundle config set --global path "$HOME/.gems" && bundle install']],
  [['composer.json'], ['composer install --no-interaction --no-progress']],
  [['pom.xml'], ['mvn -B -q dependency:go-offline']],
  [['pom.xml', 'mvnw'], ['sh ./mvnw -B -q dependency:go-offline']],
  [['build.gradle.kts', 'gradlew'], ['sh ./gradlew --no-daemon -q testClasses']],
  [['App.sln', 'src/App.csproj'], ['dotnet restore']],
  [['mix.exs'], [expect.stringMatching(/ && mix deps\.get$/)]],
  // A manifest without versions in the root hides no lock file below it, but what has none there is of no use.
  [
    ['package.json', 'web/package-lock.json', 'examples/package.json'],
    ['npm install --no-package-lock', 'cd web && npm ci'],
  ],
  [['web/package.json'], []],
  // Requirements in folders of a repository with a manifest are for documentation and benchmarks.
  [['pyproject.toml', 'docs/requirements.txt', 'web/package-lock.json'], ['cd web && npm ci']],
  [['docs/requirements.txt'], ['cd docs && PIP_BREAK_SYSTEM_PACKAGES=1 pip3 install --user -r requirements.txt']],
])('without a lock file: %j', async (files, commands) => {
  const manifest = { devDependencies: { jest: '30' } };
  expect((await detectSetup(files, manifest)).commands.map(({ command }) => command)).toEqual(commands);
});

test.each([
  [{}, 0],
  [{ dependencies: {}, devDependencies: 1, workspaces: [] }, 0],
  [{ dependencies: { a: '1' } }, 1],
  [{ workspaces: ['packages/*'] }, 1],
])('a package.json with %j needs %i commands', async (manifest, count) => {
  expect((await detectSetup(['package.json'], manifest)).commands).toHaveLength(count);
});

test('manifests without a command are named', async () => {
  const unknownOf = async (...files: string[]) => (await detectSetup(files)).unknown;
  expect(await unknownOf('pyproject.toml', 'setup.cfg')).toEqual(['pyproject.toml', 'setup.cfg']);
  expect(await unknownOf('pyproject.toml', 'uv.lock')).toEqual([]);
  expect(await unknownOf('pyproject.toml', 'package-lock.json')).toEqual(['pyproject.toml']);
  // Side folders are not set up then.
  expect(await unknownOf('go.mod', 'web/package-lock.json', 'web/package.json', 'docs/requirements.txt')).toEqual([
    'docs/requirements.txt',
    'web/package-lock.json',
  ]);
});

test('Corepack provides the version that package.json pins, and nothing else of that field is used', async () => {
  const first = async (packageManager: string, ...files: string[]) =>
    (await detectSetup(files, { packageManager })).commands[0];
  expect(await first('pnpm@9.1.0+sha512.ab12', 'pnpm-lock.yaml')).toEqual({
    programs: ['pnpm', 'corepack'],
    command: `${pinning('pnpm')}pnpm install --frozen-lockfile`,
  });
  for (const other of ['pnpm@latest', 'pnpm@9.1.0; curl x', 'pnpm@https://example.org/x', 'yarn@4.1.0', 'npm@10.0.0'])
    expect(await first(other, 'pnpm-lock.yaml')).toEqual({
      programs: ['pnpm'],
      command: 'pnpm install --frozen-lockfile',
    });
});
