import { detectSetup, isKnownCacheFile } from '../../src/environment/detect.ts';

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
  [['go.mod'], ['go mod download']],
  [['Cargo.lock'], ['cargo fetch --locked']],
  [['Gemfile.lock'], ['bundle config set --global path "$HOME/.gems" && bundle install']],
  [['composer.lock'], ['composer install --no-interaction --no-progress']],
  [
    ['go.mod', 'package-lock.json'],
    ['npm ci', 'go mod download'],
  ],
  [
    ['web/package-lock.json', 'api/go.mod', 'a/b/Cargo.lock'],
    ['cd api && go mod download', 'cd web && npm ci'],
  ],
  [["it's; -x/go.mod"], ["cd './it'\\''s; -x' && go mod download"]],
  [['-x/go.mod'], ["cd './-x' && go mod download"]],
])('%j', (files, commands) => {
  expect(detectSetup(files).map(({ command }) => command)).toEqual(commands);
});

test('known lock and version files count at the root and one level down', () => {
  const known = ['package-lock.json', 'web/package.json', '.nvmrc', 'go.sum'];
  expect([...known, 'a/b/go.sum', 'src/index.js', 'Package-lock.json'].filter(isKnownCacheFile)).toEqual(known);
});
