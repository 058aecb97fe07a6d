import type { Checkout } from '../../src/git/engine.ts';
import { parseSettings } from '../../src/repositories/settings/parse.ts';
import { noSettings, pathsProtectedBy, readSettings } from '../../src/repositories/settings/repository-settings.ts';
import { pathsMatching } from '../../src/repositories/settings/schema.ts';
import { longestBlock } from '../support/machine/processor-time.ts';

const parse = (text: string | Buffer) => parseSettings(Buffer.from(text));
const checkoutWith = (file: string | 'too large' | undefined) =>
  ({ readFile: async () => (file === 'too large' ? file : file && Buffer.from(file)) }) as unknown as Checkout;

test.each([
  ['', {}],
  ['# nothing but a comment\n', {}],
  ['---\n', {}],
  ['\ufeffsetup: make\r\nchecks: [a, b]\r\n', { setup: ['make'], checks: ['a', 'b'] }],
  ['checks:\n# - npm test\n', {}],
  [
    'protected: ./infra/\nallowed: [.github/dependabot.yml, .husky/]\n',
    {
      protected: ['infra'],
      allowed: ['.github/dependabot.yml', '.husky'],
    },
  ],
  [
    'agent: Reviewer\nbudget: { minutes: 20, costUsd: 0.5 }',
    { agent: 'Reviewer', budget: { minutes: 20, costUsd: 0.5 } },
  ],
  ['checks: &c [npm test]\nsetup: *c', { setup: ['npm test'], checks: ['npm test'] }],
  ['agent: yes', { agent: 'yes' }],
  ['proof: required', { proof: 'required' }],
  ['prove: ours', { prove: { everyone: false as const, minutesPerDay: 60 } }],
  ['prove: everyone', { prove: { everyone: true as const, minutesPerDay: 60 } }],
  ['prove: { everyone: required }', { prove: { everyone: 'required' as const, minutesPerDay: 60 } }],
  ['prove: { everyone: true, minutesPerDay: 5 }', { prove: { everyone: true as const, minutesPerDay: 5 } }],
  ['approve: others', { approve: 'others' as const }],
  ['merge: { method: rebase }', { merge: { method: 'rebase' as const, update: true } }],
  ['merge: { update: false }', { merge: { update: false } }],
  ['runsOn: GPU', { runsOn: ['gpu'] }],
  ['runsOn: [linux, gpu, Linux]', { runsOn: ['gpu', 'linux'] }],
  ['setupOfChange: closed', { setupOfChange: 'closed' as const }],
  [
    'image: registry.example.org/tools:1.2@sha256:ab\nimageAuth: { username: U, password: P_1 }',
    { image: 'registry.example.org/tools:1.2@sha256:ab', imageAuth: { username: 'U', password: 'P_1' } },
  ],
  [
    'network: { agent: [API.Example.org, "*.example.org"] }\nenv: { MODE: test, empty_1: "" }\nsecrets: NPM_TOKEN',
    {
      network: { setup: ['defaults'], agent: ['api.example.org', '*.example.org'] },
      env: { MODE: 'test', empty_1: '' },
      secrets: ['NPM_TOKEN'],
    },
  ],
  [
    'branch: bot/{issue}-{id}\ncommits: conventional\nsignOff: true\nverified: never\npullRequest: { labels: agent, reviewers: ["@mona", acme/core], draft: always }',
    {
      branch: 'bot/{issue}-{id}',
      commits: 'conventional' as const,
      signOff: true,
      verified: 'never' as const,
      pullRequest: { labels: ['agent'], reviewers: ['mona', 'acme/core'], assignees: [], draft: 'always' as const },
    },
  ],
  ['network: { setup: [] }', { network: { setup: [], agent: [] } }],
  ['plan: large\npush: approved', { plan: 'large' as const, push: 'approved' as const }],
  [
    'services:\n  - redis-server\n  - { run: ./db, port: 5432 }\ncache: ./a.lock\ntests: ["spec/**"]',
    { services: [{ run: 'redis-server' }, { run: './db', port: 5432 }], cache: ['a.lock'], tests: ['spec/**'] },
  ],
  [
    'checkout: { paths: [./apps/web/, libs] }',
    { checkout: { submodules: false, lfs: false, paths: ['apps/web', 'libs'] } },
  ],
  ['checkout: { paths: libs }', { checkout: { submodules: false, lfs: false, paths: ['libs'] } }],
])('%j is read', (text, wanted) => {
  expect(parse(text)).toEqual({ settings: { ...noSettings, ...wanted } });
});

test.each([
  ['a: [', 'line 1: Flow sequence in block collection must be sufficiently indented and end with a ]'],
  ['setup: x\nchecks: 7', 'line 2: checks: must be text, not the number 7; put it in quotation marks'],
  ['checks:\n  - ok\n  - true', 'line 3: checks.1: must be text, not the boolean true; put it in quotation marks'],
  ['checks:\n  -\n', 'line 2: checks.0: must not be empty'],
  ['setup: { a: b }', 'line 1: setup: must be text, not a mapping; put it in quotation marks'],
  ['cheks: x', 'line 1: there is no key "cheks"; did you mean "checks"?'],
  ['# x\nallow: x', 'line 2: there is no key "allow"; did you mean "allowed"?'],
  ['budget:\n  minuts: 3', 'line 2: there is no key "budget.minuts"; did you mean "budget.minutes"?'],
  ['budget: { steps: -1 }', 'line 1: budget.steps: must be more than 0'],
  ['budget: { steps: "9" }', 'line 1: budget.steps: must be a number, not text'],
  ['plan: allways', 'line 1: plan: must be never, always or large'],
  ['proof: always', 'line 1: proof: must be optional or required'],
  ['approve: nobody', 'line 1: approve: must be anyone or others'],
  ['merge: squash', 'line 1: merge: must contain { method, update }, not text'],
  ['merge: { method: fast }', 'line 1: merge.method: must be merge, squash or rebase'],
  ['merge: { update: "yes" }', 'line 1: merge.update: must be true or false, not text'],
  ['merge: { metod: merge }', 'line 1: there is no key "merge.metod"; did you mean "merge.method"?'],
  ['checkout: libs', 'line 1: checkout: must contain keys such as { paths: [app] }, not text'],
  ['checkout: { path: a }', 'line 1: there is no key "checkout.path"; did you mean "checkout.paths"?'],
  ['checkout: { lfs: "yes" }', 'line 1: checkout.lfs: must be true or false, not text'],
  ['checkout: { paths: [a/../b] }', 'line 1: checkout.paths.0: must name a folder of the repository'],
  ['checkout: { paths: [a/.GIT/b] }', 'line 1: checkout.paths.0: must name a folder of the repository'],
  ['checkout: { paths: ["a\\nb"] }', 'line 1: checkout.paths.0: must name a folder of the repository'],
  ['checkout: { paths: [/] }', 'line 1: checkout.paths.0: must name a folder of the repository'],
  ['checkout: { paths: ["--all"] }', 'line 1: checkout.paths.0: must not begin with -'],
  ['checkout: { paths: [apps/*] }', 'line 1: checkout.paths.0: must be the exact path of a folder, without * or ?'],
  ['prove: all', expect.stringMatching(/^line 1: prove: must be ours, everyone, or keys such as .*, not "all"$/)],
  ['prove: { everyone: maybe }', 'line 1: prove.everyone: must be true, false or required'],
  ['prove: { everyone: true, minutesPerDay: 0 }', 'line 1: prove.minutesPerDay: must be from 1 to 1440'],
  ['prove: { every: true }', 'line 1: there is no key "prove.every"; did you mean "prove.everyone"?'],
  ['commits: strict', 'line 1: commits: must be free or conventional'],
  ['signOff: "yes"', 'line 1: signOff: must be true or false, not text'],
  ['verified: always', 'line 1: verified: must be auto or never'],
  ['branch: agent/{slug}', 'line 1: branch: must contain {id}, so that every task has its own branch'],
  ['pullRequest: { label: a }', 'line 1: there is no key "pullRequest.label"; did you mean "pullRequest.labels"?'],
  ['pullRequest: agent', 'line 1: pullRequest: must contain keys such as { labels: [agent] }, not text'],
  ['pullRequest: { draft: never }', 'line 1: pullRequest.draft: must be auto or always'],
  [
    'pullRequest: { reviewers: [mona, "a b"] }',
    'line 1: pullRequest.reviewers.1: must be the login of a person, or org/team for a team',
  ],
  ['pullRequest: { assignees: [acme/core] }', 'line 1: pullRequest.assignees.0: must be the login of a person'],
  ['budget: 5', 'line 1: budget: must contain limits such as { minutes: 20 }, not the number 5'],
  ['image: "a b"', expect.stringMatching(/^line 1: image: must be the reference of an image/)],
  ['imageAuth: { username: U, password: P }', 'line 1: imageAuth: can be given only together with image'],
  [
    'image: a\nimageAuth: { username: u, password: P }',
    expect.stringMatching(/^line 2: imageAuth.username: must be the/),
  ],
  ['image: a\nimageAuth: { username: U }', 'line 2: imageAuth.password: is required'],
  ['image: a\nimageAuth: { user: U }', expect.stringMatching(/no key "imageAuth.user"; did you mean "imageAuth.user/)],
  ...['none', 'None', 'no', '[a.org, off]', '"false"'].map((given): [string, unknown] => [
    `network: { setup: ${given} }`,
    expect.stringMatching(/^line 1: network\.setup(\.1)?: must be the name of a host; write \[\] for no hosts$/),
  ]),
  ['network: [a]', 'line 1: network: must contain hosts such as { setup: [defaults] }, not a list'],
  ['network: { agents: x }', 'line 1: there is no key "network.agents"; did you mean "network.agent"?'],
  ['network: { agent: 10.0.0.1 }', expect.stringMatching(/^line 1: network.agent: must be the name of a host/)],
  ...[
    '0x7f.1',
    '"[::1]"',
    'a:443',
    'https://a.example',
    'a/b',
    '"*"',
    '"*.org"',
    'a..b',
    '-a.org',
    'a.org.',
    '"é.org"',
  ].map((host): [string, unknown] => [
    `network: { setup: [b.org, ${host}] }`,
    expect.stringMatching(/: network.setup.1: must be/),
  ]),
  ['env: { A: }', 'line 1: env.A: must be text; write "" for an empty value'],
  ['env: { A: 1 }', 'line 1: env.A: must be text, not the number 1; put it in quotation marks'],
  ['env:\n  1A: x', expect.stringMatching(/^line 2: env.1A: must be the name of a variable/)],
  ['env:\n  https_proxy: x', 'line 2: env.https_proxy: must not be a variable that the sandbox sets'],
  ['env: [A=1]', 'line 1: env: must contain variables such as { MODE: test }, not a list'],
  ['env: { A: x }\nsecrets: [A]', 'line 1: env.A: must not have the name of a secret'],
  ['secrets: [npm_token]', expect.stringMatching(/^line 1: secrets.0: must be the name of an environment secret/)],
  ['secrets: HTTP_PROXY', 'line 1: secrets: must not be a variable that the sandbox sets'],
  ['services: [{ run: squid, port: 3128 }]', "line 1: services.0.port: must not be 3128, the port of Deckhand's proxy"],
  ['services: [{ port: 1 }]', 'line 1: services.0.run: is required'],
  ['services: { run: x, port: 70000 }', 'line 1: services.port: must be a port from 1 to 65535'],
  ['services: [{ run: x, prot: 1 }]', 'line 1: there is no key "services.prot"; did you mean "services.port"?'],
  ['services: 7', 'line 1: services: must be a command or { run, port }, not the number 7'],
  ['cache: ["+(a)"]', expect.stringMatching(/^line 1: cache.0: must be a name/)],
  ['palm: x', 'line 1: there is no key "palm"; did you mean "plan"?'],
  ['- x', 'line 1: it must contain keys such as "checks: npm test", not a list'],
  ['just text', 'line 1: it must contain keys such as "checks: npm test", not text'],
  ['agent: ""', 'line 1: agent: must not be empty'],
  ['setup: a\nsetup: b', 'line 2: the key "setup" occurs twice'],
  ['budget: { steps: 1, steps: 2 }', 'line 1: the key "steps" occurs twice'],
  ['__proto__: { setup: x }', 'line 1: there is no key "__proto__"; did you mean "proof"?'],
  ['constructor: x', 'line 1: there is no key "constructor"; did you mean "network"?'],
  ['setup: &s [x]\n<<: *s', 'line 2: merge keys (<<) are not supported'],
  ['setup: !!js/function x', 'line 1: tags such as !!binary are not supported'],
  ['%YAML 1.1\n---\nsetup: x', 'it begins with a %YAML directive, which is not supported'],
  ['setup: a\n---\nsetup: b', 'line 2: a second document begins here; the file must have only one'],
  ['setup:\n\t- x', 'line 2: Tabs are not allowed as indentation'],
  ['? [a]\n: x', 'line 1: a key must be text'],
  [`checks: &c [${'x, '.repeat(19)}x]\nsetup: [${'*c, '.repeat(15)}]`, 'it repeats an anchor more than 10 times'],
  ['['.repeat(16_000), 'it is nested too deeply'],
  [Buffer.from('setup: x', 'utf16le'), 'it contains NUL characters; save it as UTF-8, not as UTF-16'],
  [Buffer.from([0x73, 0xe9]), 'it is not valid UTF-8'],
  [`checks: [${'x, '.repeat(21)}]`, 'line 1: checks: must have at most 20 entries'],
  ['protected: ["+(a|aa)+(a|aa)b"]', expect.stringMatching(/not \+\(…\)/)],
  ['protected: ["*a*a*a*a*b"]', expect.stringMatching(/at most 3 stars in a name/)],
  [
    'protected: ["x{1..99999}y"]',
    'line 1: protected.0: must not contain a range such as {1..9}; list the values: {1,2,3}',
  ],
  ['protected: ["{a,b..c}"]', expect.stringMatching(/range/)],
  ['protected: ["!src/x"]', expect.stringMatching(/must not begin with "!"/)],
  ['protected: ["a/../b"]', expect.stringMatching(/must name files or folders/)],
  ['protected: /', expect.stringMatching(/must name files or folders/)],
  ['allowed: [.github/*.yml]', expect.stringMatching(/must be the exact path/)],
  ['allowed: [.deckhand.yml]', expect.stringMatching(/allowed.0: .deckhand.yml cannot be allowed/)],
  ['allowed: .gitattributes', expect.stringMatching(/allowed: filters in .gitattributes cannot be allowed/)],
  ['allowed: src', 'line 1: allowed: it is not protected by default, so it need not be allowed'],
  ['allowed: .github/../src', expect.stringMatching(/must name a file or a folder/)],
])('%j is refused', (text, problem) => {
  expect(parse(text)).toEqual({ problem });
});

test('a pattern matches a name, everything in a folder, or a glob, in any letter case', () => {
  const patterns = ['LICENSE', 'infra', '**/*.lock', 'app/[id]/page.tsx', '#*', 'gen/{api,db}/*.ts', '.*'];
  const guarded = [
    'LICENSE',
    'license',
    'infra',
    'infra/a/b.tf',
    'Infra/x',
    'infra/.env',
    'a/b/yarn.lock',
    'yarn.lock',
  ];
  guarded.push('.cache/a.lock/x', 'app/[id]/page.tsx', '#x', 'gen/db/User.ts', '.npmrc', '.x/y');
  const free = ['LICENSE.md', 'infrared/x', 'src/infra/x', 'a.locked', 'gen/web/x.ts', 'src/.x', 'app/j/page.tsx'];
  expect(pathsMatching(patterns, [...guarded, ...free])).toEqual(guarded);
});

test.each([
  ['too large', 'it is larger than 32 kB (32768 bytes)'],
  [`#${'x'.repeat(32_768)}`, 'it is larger than 32 kB (32768 bytes)'],
  ['cheks: x', 'line 1: there is no key "cheks"; did you mean "checks"?'],
])('a file that cannot be used stops the run: %.20s', async (file, why) => {
  const message = `.deckhand.yml on the default branch cannot be used: ${why}`;
  await expect(readSettings(checkoutWith(file), 'x')).rejects.toMatchObject({
    failure: { category: 'repository', message },
  });
});

test('a missing file and one of exactly 32 kB are fine', async () => {
  expect(await readSettings(checkoutWith(undefined), 'x')).toEqual(noSettings);
  const full = `checks: a\n#${'x'.repeat(32_768 - 11)}`;
  expect(await readSettings(checkoutWith(full), 'x')).toEqual({ ...noSettings, checks: ['a'] });
});

test('patterns that match too slowly fail the run without blocking the service', async () => {
  const settings = { ...noSettings, protected: Array.from({ length: 200 }, (_, i) => `**/*a*a*${i}b`) };
  const paths = Array.from({ length: 10_000 }, (_, i) => `${'a'.repeat(200)}${i}/${'a'.repeat(200)}`);
  const failure = { category: 'repository', message: expect.stringMatching(/10000 paths takes more than 2 s/) };
  const block = await longestBlock(() => expect(pathsProtectedBy(settings, paths)).rejects.toMatchObject({ failure }));
  expect(block).toBeLessThan(1000);
  expect(await pathsProtectedBy({ ...noSettings, protected: ['a'] }, ['a', 'b'])).toEqual(new Set(['a']));
});
