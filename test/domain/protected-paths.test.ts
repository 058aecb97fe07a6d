import { filterLines, filterMacros } from '../../src/domain/protected/ci-files.ts';
import {
  isAllowed,
  isAttributesFile,
  problemWithAllowed,
  protectionOf,
  seenAs,
} from '../../src/domain/protected/protected-paths.ts';
import { timeOf } from '../support/machine/processor-time.ts';

test.each([
  '.github',
  '.github/workflows/ci.yml',
  '.GitHub/Workflows/ci.yml',
  '.github/actions/build/action.yml',
  '.github/CODEOWNERS',
  '.github/dependabot.yml',
  '.github/copilot-instructions.md',
  '.github/ISSUE_TEMPLATES/x.md',
  'CODEOWNERS',
  'docs/codeowners',
  'renovate.json',
  '.deckhand.yml',
  '.Deckhand.YML',
  '.gitmodules',
  '.lfsconfig',
  '.devcontainer/devcontainer.json',
  '.devcontainer.json',
  '.husky/pre-commit',
  'frontend/.husky/pre-commit',
  '.vscode/tasks.json',
  'HUSKY~1/pre-commit',
  '.vscode/TASKS~1.JSO',
  '.gitlab-ci.yml',
  '.circleci/config.yml',
  '.travis.yml',
  'azure-pipelines.yml',
  'azure-pipelines-release.yml',
  'Jenkinsfile',
  'deploy/Jenkinsfile.prod',
  '.drone.yml',
  'bitbucket-pipelines.yml',
  '.buildkite/pipeline.yml',
  'appveyor.yml',
  '.appveyor.yml',
  'cloudbuild.yaml',
  'buildspec.yml',
  '.woodpecker/test.yaml',
  '.woodpecker.yml',
  '.semaphore/semaphore.yml',
  '.teamcity/settings.kts',
  '.cirrus.yml',
  '.gitea/workflows/ci.yml',
  '.forgejo/workflows/ci.yml',
  'codefresh.yml',
  'wercker.yml',
  '.tekton/push.yaml',
  '.build.yml',
  '.pre-commit-config.yaml',
  '.rwx/ci.yml',
  '.depot/workflows/ci.yml',
  '.eas/workflows/build.yml',
  '.packit.yaml',
  '.onedev-buildspec.yml',
  '.evergreen.yml',
  'Jenkinsfile-nightly',
  'ci.gopipeline.json',
  'lefthook.yml',
  '.envrc',
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.claude/hooks/check.sh',
  '.claude/skills/release/SKILL.md',
  'app/.claude/agents/reviewer.md',
  '.claude/commands/deploy.md',
  '.opencode/command/deploy.md',
  '.idea/startup.xml',
  'app/.idea/watcherTasks.xml',
  '.pnpmfile.cjs',
  'app/.pnpmfile.mjs',
  '.mcp.json',
  'packages/app/.mcp.json',
  '.MCP.json',
  '.cursor/mcp.json',
  '.cursor/hooks.json',
  '.cursor/environment.json',
  '.gemini/settings.json',
  '.codex/config.toml',
  '.windsurf/hooks.json',
  '.kiro/settings/mcp.json',
  '.kiro/hooks/test.kiro.hook',
  '.roo/mcp.json',
  'opencode.json',
  '.opencode/plugins/a.ts',
  '.aider.conf.yml',
  '.vscode/mcp.json',
  '.vscode/settings.json',
  'app/.vscode/settings.json',
  'team.code-workspace',
  '.zed/tasks.json',
  '.nvim.lua',
  '.dir-locals.el',
  'mise.toml',
  '.mise.toml',
  'mise.local.toml',
  '.mise/tasks/build',
  '.config/mise.toml',
  '.config/mise/config.toml',
  '.yarnrc.yml',
  '.yarn/releases/yarn-4.9.1.cjs',
  '.githooks/pre-commit',
  'tools/.githooks/pre-commit',
  '.overcommit.yml',
  '.simple-git-hooks.cjs',
  '.builds/test.yml',
  // Names that some file systems treat as equal to a protected one.
  '.git\u200chub/workflows/ci.yml',
  '.deckhand.yml.',
  '.gitmodules::$DATA',
  '.hu\u017fky/pre-commit',
])('%s is protected by default', (path) => {
  expect(protectionOf(path)?.why).toEqual(expect.any(String));
});

test.each([
  'src/index.ts',
  '.github/ISSUE_TEMPLATE/bug.yml',
  '.github/issue_template/config.yml',
  '.github/ISSUE_TEMPLATE.md',
  '.github/Pull_Request_Template/default.md',
  '.github/pull_request_template.md',
  '.githubx/workflows/ci.yml',
  'packages/a/.github/workflows/ci.yml',
  'docs/CODEOWNERS.md',
  '.vscode/launch.json',
  '.vscode/extensions.json',
  '.claude/rules/style.md',
  '.cursor/rules/style.mdc',
  '.tool-versions',
  '.npmrc',
  'src/mise.toml.ts',
  'docs/mcp.json',
  'settings.json',
  'test/Jenkinsfiles.md',
  'vercel.json',
  '.travis.yml.bak',
  '.gitattributes',
])('%s is not protected by default', (path) => {
  expect(protectionOf(path)).toBeUndefined();
});

test('checking a path takes time linear in its length, whatever it contains', async () => {
  const odd = [' ', '.', '.husky ', 'a/', '/jenkinsfil', 'azure-pipelines', '\u200b.g', ':'];
  const check = () => {
    for (const each of odd) protectionOf(`${each.repeat(500_000 / each.length)}x`);
  };
  expect(await timeOf(check)).toBeLessThan(10_000);
});

test('allowed paths and folders are compared exactly', () => {
  const allowed = ['.github/dependabot.yml', '.husky'];
  for (const path of ['.github/dependabot.yml', '.husky', '.husky/pre-commit'])
    expect([path, isAllowed(allowed, path)]).toEqual([path, true]);
  for (const path of ['.github/Dependabot.yml', '.github/dependabot.yml.bak', '.huskyx', 'a/.husky'])
    expect([path, isAllowed(allowed, path)]).toEqual([path, false]);
});

test.each([
  ['.deckhand.yml', /cannot be allowed, because it sets what agents may do/],
  ['.GitModules', /cannot be allowed/],
  ['.lfsconfig', /cannot be allowed/],
  ['.github/workflows/docs.yml', /cannot be allowed, because GitHub refuses workflows/],
  ['sub/.gitattributes', /filters in .gitattributes cannot be allowed/],
  ['src', /not protected by default/],
  ['vercel.json', /not protected by default/],
])('`allowed` with %s is an invalid setting', (entry, wanted) => {
  expect(problemWithAllowed(entry)).toMatch(wanted);
});

test.each([
  '.github',
  '.github/dependabot.yml',
  '.github/ISSUE_TEMPLATE',
  'docs',
  '.vscode',
  '.vscode/settings.json',
  '.mcp.json',
  '.cursor',
  'app/.husky',
])('`allowed` with %s opens paths', (entry) => {
  expect(problemWithAllowed(entry)).toBeUndefined();
});

test.each([
  ['*.md text\n*.png -text diff=exif merge=ours\n# *.bin filter=lfs\n', []],
  ['*.bin filter=lfs diff=lfs -text\r\n', ['*.bin filter=lfs diff=lfs -text']],
  ['\ufeff  *.bin\tfilter=lfs', ['*.bin filter=lfs']],
  ['a -filter\nb !filter\nc filter\n', ['a -filter', 'b !filter', 'c filter']],
  ['"a b" filter=x\n"\\z filter=y "\n', ['"a b" filter=x', '"\\z filter=y "']],
  ['[attr]big filter=lfs\n*.bin big\n*.md text\n', ['[attr]big filter=lfs', '*.bin big']],
  ['x two\n[attr]two one\n[attr]one filter=f\n', ['x two', '[attr]two one', '[attr]one filter=f']],
  ['filter=lfs text\nfilters=x y\n', []],
])('%j names filters in %j', (text, wanted) => {
  expect(filterLines(text)).toEqual(wanted);
});

test('a macro defined at the root gives files in other folders a filter', () => {
  const macros = filterMacros('[attr]big filter=lfs\n[attr]plain text\n');
  expect(filterLines('*.bin big\n*.md plain\n', macros)).toEqual(['*.bin big']);
  expect(isAttributesFile('sub/.gitAttributes')).toBe(true);
});

test('only a line that begins with the mark of a macro defines one', () => {
  expect(filterLines('macro/big filter=x\n*.md big\n')).toEqual(['macro/big filter=x']);
});

test('macros are followed through any number of others, in linear time', async () => {
  const chain = (length: number) =>
    Array.from({ length }, (_, i) => `[attr]m${length - i} ${i === length - 1 ? 'filter=x' : `m${length - i - 1}`}`);
  const found = (length: number) => filterLines([...chain(length), '[attr]plain text', '*.md plain'].join('\n'));
  expect(found(30)).toEqual(chain(30));
  expect(filterLines('[attr]a b\n[attr]b a\n*.md a')).toEqual([]);
  const long = `${chain(22).join('\n')}\n[attr]z ${'a '.repeat(97_000)}`;
  const once = await timeOf(() => filterLines(`[attr]z ${'a '.repeat(97_000)}`));
  expect(await timeOf(() => filterLines(long))).toBeLessThan(5 * once + 50);
});

test.each([
  ['a. /b', 'a/b'],
  ['a .', 'a'],
  ['a b ', 'a b'],
  ['a ::$DATA', 'a'],
  ['. /b', '/b'],
])('some file system takes %j for %j', (path, seen) => {
  expect(seenAs(path)).toBe(seen);
});
