import { until } from '../../demo/real-service.ts';
import { type Face, openFace, repo, write } from '../support/face.ts';
import { gitOut } from '../support/git.ts';

let face: Face;
beforeAll(async () => {
  face = await openFace();
  const { push } = face;
  await push('main', 'AGENTS.md', 'Write every word in lower case.\n');
  await push(
    'main',
    '.deckhand.yml',
    'setup: test -z "$(git config --global alias.x)" && echo ready > junk.txt\nchecks:\n  - grep -q good made.txt\nprotected: [infra/, "**/*.lock"]\nagent: Reviewer\nbudget: { steps: 6 }\n',
  );
});
afterAll(() => face.world.close());

const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
const mainSettings = () => face.fileOn('main', '.deckhand.yml').concat('\n');
const told = (face: Face) => JSON.stringify(face.world.model.requests.at(-1)?.messages);

test('failing checks are reported to the model; files that checks create are not part of the change', async () => {
  const { world, plays, mona, pullOf, taskOf, settled, say, told: shows } = face;
  // Checks do not see what the agent left in its home folder.
  const hidden = { name: 'run_command', arguments: { command: 'git config --global alias.x y' } };
  // The first finish shows the agent its change; the checks run at the second.
  plays([hidden, write('made.txt', 'bad\n'), finish], [finish], [write('made.txt', 'good\n'), finish]);
  const number = await world.issue('/agent start');
  const task = await settled(number, 'in_review', 1);
  expect(told(face)).toContain('The checks failed.');
  for (const said of ['Write every word in lower case', 'grep -q good made.txt']) expect(told(face)).toContain(said);
  const pull = await mona<{ draft: boolean; body: string }>('GET', `${repo}/pulls/${pullOf(task)}`);
  expect([pull.draft, pull.body]).toEqual([false, expect.stringContaining('✅ `grep -q good made.txt`')]);
  const { files } = await world.get<{ files: { path: string }[] }>(`/tasks/${task.id}/diff`);
  expect(files.map((f) => f.path)).toEqual(['made.txt']);
  // The repository names the agent that works when nobody is assigned.
  const agents = await world.get<{ id: string; name: string }[]>('/agents');
  expect(agents.find((a) => a.id === task.owner)?.name).toBe('Reviewer');
  expect((await taskOf(number)).failure).toBeNull();
  // What a later run pushes without a result of the checks is not ready any more.
  plays([write('made.txt', 'worse\n'), { name: 'give_up', arguments: { reason: 'too hard' } }]);
  await say(number, '/agent revise Do more.');
  await until('the draft', async () => (await mona<{ draft: boolean }>('GET', `${repo}/pulls/${pullOf(task)}`)).draft);
  await shows(number, 'too hard');
});

test('checks that fail three more times end the run with a draft', async () => {
  const { world, plays, mona, pullOf, settled, statusComment } = face;
  // While the repository has a secret, only members see the output of its checks.
  const secret = `/projects/${world.project.id}/environment-secrets/NPM_TOKEN`;
  await world.service.api(world.token, 'PUT', secret, { value: 'canary of the checks' });
  plays(...Array.from({ length: 5 }, (_, i) => [write('made.txt', `bad ${i}\n`), finish]));
  const number = await world.issue('/agent start');
  const task = await settled(number, 'in_review', 1);
  expect(task.failure).toMatchObject({
    category: 'checks',
    message: expect.stringMatching(/^grep -q good made\.txt still fails after \d+ s\n\[exit code 1\]/),
  });
  const pull = await mona<{ draft: boolean; body: string }>('GET', `${repo}/pulls/${pullOf(task)}`);
  expect([pull.draft, pull.body]).toEqual([true, expect.stringContaining('❌ `grep -q good made.txt`')]);
  const [comment] = await statusComment(number);
  for (const shown of [pull.body, comment?.body]) expect(shown).not.toContain('[exit code 1] after');
  await world.service.api(world.token, 'DELETE', secret);
  // A run that changes nothing does not make ready what no check has passed.
  plays(...Array.from({ length: 5 }, () => [finish]));
  await world.service.api(world.token, 'POST', `/tasks/${task.id}/retry`);
  const again = await settled(number, 'in_review', 2);
  expect(again.failure).toMatchObject({ category: 'checks' });
  expect(await mona('GET', `${repo}/pulls/${pullOf(task)}`)).toMatchObject({ draft: true });
});

test('what was judged is what counts: no process changes it afterwards, and services start again', async () => {
  const { world, plays, push, settled } = face;
  const before = await mainSettings();
  await push(
    'main',
    '.deckhand.yml',
    'services:\n  - run: echo started >> ~/starts; exec sleep 1000\nchecks:\n  - grep -q good made.txt\nprotected: [infra/]\n',
  );
  const run = (command: string) => ({ name: 'run_command', arguments: { command } });
  // The host stores what it reads as git objects. The process sees that, and then removes the file that is refused.
  const watch =
    "oid=$(printf 'second\\n' | git hash-object --stdin); until git cat-file -e $oid 2> /dev/null; do :; done; rm -r infra";
  plays(
    [{ name: 'start_process', arguments: { name: 'web', command: 'sleep 1000' } }],
    [write('made.txt', 'bad\n'), write('infra/a', 'first\n'), finish],
    [run('cat ~/starts'), { name: 'start_process', arguments: { name: 'later', command: watch } }],
    [write('infra/a', 'second\n'), finish],
  );
  const pushes = world.github.pushes.length;
  const task = await settled(await world.issue('/agent start'), 'ready', 1);
  expect(task.failure).toMatchObject({ category: 'push_rejected', message: expect.stringMatching(/^infra\/a is /) });
  expect(world.github.pushes).toHaveLength(pushes);
  expect(told(face)).toContain('All processes ended before your change was read: web.');
  expect(told(face)).toContain('started\\nstarted\\n');
  await push('main', '.deckhand.yml', before);
});

test("the lowest budget applies, and the model receives a folder's instructions when it first accesses the folder", async () => {
  const { world, plays, push, settled } = face;
  await push('main', 'src/AGENTS.md', 'Only pure functions here.\n');
  plays(
    ...Array.from({ length: 7 }, (_, i) => [
      { name: 'read_file', arguments: { path: 'src/slugify.js', startLine: 1, endLine: i + 1 } },
    ]),
  );
  const task = await settled(await world.issue('/agent start'), 'ready', 1);
  expect(task.failure).toMatchObject({
    category: 'budget',
    message: 'the budget of 6 steps is used up (limit in .deckhand.yml)',
  });
  expect(told(face).split('Only pure functions here.')).toHaveLength(2);
});

test('an invalid .deckhand.yml stops the run, and the message says what is wrong', async () => {
  const { world, plays, push, settled } = face;
  await push('main', '.deckhand.yml', 'cheks: npm test\n');
  plays([finish]);
  const task = await settled(await world.issue('/agent start'), 'ready', 1);
  expect(task.failure).toMatchObject({
    category: 'repository',
    message:
      '.deckhand.yml on the default branch cannot be used: line 1: there is no key "cheks"; did you mean "checks"?',
  });
  await push('main', '.deckhand.yml', '{}\n');
});

test('/agent setup tries set-up and checks, and answers in the one comment of the issue', async () => {
  const { world, push, reactionsTo, say } = face;
  await push(
    'main',
    '.deckhand.yml',
    'setup: echo prepared > ~/.ready\nchecks: ["grep prepared ~/.ready", "exit 3"]\n',
  );
  const number = await world.issue('just talking');
  const { id } = await say(number, '/agent setup');
  const answer = await until('the answer', async () =>
    (await world.comments(number)).find(({ body }) => body.includes('Set-up or checks failed')),
  );
  expect(answer.body).toMatch(/`echo prepared > ~\/.ready`: exit code 0, [\d.]+ s/);
  expect(answer.body).toMatch(/`exit 3`: exit code 3, [\d.]+ s/);
  expect(reactionsTo(id)).toContain('rocket');
  await push('main', '.deckhand.yml', '{}\n');
});

test('the pull request says what the tests prove; the agent hears of weakened tests once, and they make it a draft', async () => {
  const { world, plays, push, settled, mona, pullOf, say, told: shows } = face;
  await push('main', '.deckhand.yml', 'checks: node --test\nproof: required\n');
  const code = (body: string) => write('src/slugify.js', `export const slugify = (text) => ${body};\n`);
  const test = (path: string, from: string, to: string) =>
    write(
      path,
      `import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { slugify } from '../src/slugify.js';\ntest('more', () => assert.equal(slugify('${from}'), '${to}'));\n`,
    );
  const good = "text.toLowerCase().replace('&', 'and').replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '')";
  plays([code(good), test('test/more.test.js', 'a & b', 'a-and-b'), finish], [finish]);
  const number = await world.issue('/agent start');
  const task = await settled(number, 'in_review', 1);
  const proof = () => world.get(`/tasks/${task.id}/proof`);
  const pull = () => mona<{ draft: boolean; body: string }>('GET', `${repo}/pulls/${pullOf(task)}`);
  expect(await proof()).toEqual({
    status: 'proved',
    newTestsFailOnBase: true,
    oldTestsPass: true,
    testsChanged: ['test/more.test.js'],
    testsRemoved: [],
    reason: null,
  });
  expect(await pull()).toMatchObject({ draft: false, body: expect.stringContaining('✅ Its tests fail without it') });
  await shows(number, /✅ Its tests fail without it/);

  const loose = test('test/slugify.test.js', 'Hello, world', 'helloworld');
  plays(
    [code("text.toLowerCase().replace('&', 'and').replace(/[^a-z&-]/g, '')"), loose],
    [test('test/more.test.js', '&', 'and'), finish],
    [finish],
    [finish],
  );
  await say(number, '/agent revise no dashes');
  expect(await settled(number, 'in_review', 2)).toMatchObject({ failure: null });
  expect(told(face).split('The earlier tests fail with your change.')).toHaveLength(2);
  expect(await proof()).toMatchObject({ status: 'weakened', newTestsFailOnBase: true, oldTestsPass: false });
  const after = await pull();
  expect([after.draft, after.body.match(/Its tests fail|⚠️ Tests were weakened/g)]).toEqual([
    true,
    ['⚠️ Tests were weakened'],
  ]);
  await shows(number, /⚠️ Tests were weakened: the earlier tests fail with this change/);
  // Evidence names its commit, and is void once somebody else has pushed.
  const head = gitOut(world.github.folderOf('mona/sample'), 'rev-parse', task.branchName ?? '').slice(0, 7);
  expect(after.body).toContain(`### Checks of ${head}\n- ✅ \`node --test\``);
  const readiness = () => world.get<{ runChecks: unknown[] }>(`/tasks/${task.id}/merge-readiness`);
  expect((await readiness()).runChecks).toEqual([{ name: 'node --test', passed: true }]);
  await push(task.branchName ?? '', 'note.txt', 'x\n');
  await until('the proof to be void', async () => ((await proof()) as { status: string }).status === 'not_run');
  expect((await readiness()).runChecks).toEqual([]);
  await push('main', '.deckhand.yml', '{}\n');
});

const remove = (path: string) => ({ name: 'delete_file', arguments: { path } });

test('files that CI and git execute are protected by default, others by the base branch, however they are changed', async () => {
  const { world, plays, push, settled } = face;
  await push('main', '.deckhand.yml', 'protected: [infra/, "**/*.lock"]\n');
  await push('main', '.gitattributes', '*.bin filter=lfs\n');
  await push('main', 'Jenkinsfile', 'node {}\n');
  const shell =
    'mkdir -p .husky .CircleCI && ln -s ../README.md .husky/pre-commit && mv Jenkinsfile x && touch .CircleCI/config.yml';
  const changes = [
    write('.github/actions/x/action.yml', 'x\n'),
    write('.github/ISSUE_TEMPLATE/bug.md', 'x\n'),
    write('.deckhand.yml', 'allowed: [.github]\n'),
    remove('.gitattributes'),
    { name: 'run_command', arguments: { command: shell } },
    write('infra/main.tf', 'x\n'),
    write('a/b.lock', 'x\n'),
  ];
  plays([...changes, finish], [finish]);
  const task = await settled(await world.issue('/agent start'), 'ready', 1);
  expect(task.failure?.category).toBe('push_rejected');
  const refused = ['.CircleCI/config.yml', '.deckhand.yml', '.gitattributes', '.github/actions/x/action.yml'];
  refused.push('.husky/pre-commit', 'Jenkinsfile');
  const named = [
    ...(task.failure?.message ?? '').matchAll(/^- (\S+) is protected by default, because .+; restore it$/gm),
  ];
  expect(named.map(([, path]) => path).sort()).toEqual(refused.sort());
  for (const path of ['infra/main.tf', 'a/b.lock'])
    expect(task.failure?.message).toContain(`${path} is protected by the .deckhand.yml`);
  expect(told(face)).toContain('.husky/pre-commit is protected by default');
  expect(task.branchName).toBeNull();
});

test('`allowed` opens exact paths, `protected` takes precedence, and what is left after a restore is proposed', async () => {
  const { world, plays, push, settled } = face;
  await push('main', '.deckhand.yml', 'allowed: [.github/dependabot.yml, .husky]\nprotected: .husky/pre-push\n');
  const allowed = ['.github/dependabot.yml', '.husky/pre-commit'];
  const refused = ['.github/Dependabot.yml', '.husky/pre-push'];
  plays(
    [...[...allowed, ...refused].map((path) => write(path, 'x\n')), finish],
    [write('.gitattributes', '*.bin filter=lfs\n*.md text\n'), ...refused.map(remove)],
    [finish],
  );
  const task = await settled(await world.issue('/agent start'), 'in_review', 1);
  expect(told(face)).toMatch(/Dependabot.yml is protected by default.*pre-push is protected by the .deckhand.yml/s);
  const { files } = await world.get<{ files: { path: string }[] }>(`/tasks/${task.id}/diff`);
  expect(files.map((f) => f.path)).toEqual(['.gitattributes', ...allowed]);
});

test('a run that ends because of its budget does not push protected files either', async () => {
  const { world, plays, push, settled } = face;
  await push('main', '.deckhand.yml', 'budget: { steps: 2 }\n');
  plays([write('fine.txt', 'x\n')], [write('.travis.yml', 'x\n')], [finish]);
  const task = await settled(await world.issue('/agent start'), 'ready', 1);
  expect(task).toMatchObject({ failure: { category: 'budget' }, branchName: null });
  const [run] = await world.get<{ id: string }[]>(`/tasks/${task.id}/runs`);
  const events = await world.get<{ type: string; text: string }[]>(`/runs/${run?.id}/events`);
  expect(events.filter((e) => e.type === 'push').map((e) => e.text)).toEqual([
    'nothing was pushed:\n- .travis.yml is protected by default, because Travis CI runs the commands in it; restore it',
  ]);
  await push('main', '.deckhand.yml', '{}\n');
});

test('an agent splits its task: subtasks run and cannot split again, people merge, and the agent continues', async () => {
  const { world, plays, mona, settled, get, kinds, fileOn } = face;
  const subtasks = ['First half', 'Second half'].map((title) => ({ title, description: `Do the ${title}.` }));
  plays([write('begun.txt', 'x\n'), { name: 'create_subtasks', arguments: { subtasks } }, write('late.txt', 'x\n')]);
  const number = await world.issue('/agent start', { title: 'Large' });
  const parent = await settled(number, 'waiting_on_subtasks', 1);
  plays(
    [{ name: 'create_subtasks', arguments: { subtasks: [{ title: 'x', description: '' }] } }],
    [{ name: 'run_command', arguments: { command: `echo x > part-$RANDOM$(date +%N).txt` } }],
    [{ name: 'finish', arguments: { summary: 'This half is done.', nextSteps: ['join them'] } }],
  );
  interface Sub {
    id: string;
    title: string;
    status: string;
    owner: string | null;
    prUrl: string | null;
  }
  const subs = () => world.get<Sub[]>(`/tasks/${parent.id}/subtasks`);
  const ready = await until('both halves in review', async () => {
    const all = await subs();
    return all.length === 2 && all.every((s) => s.status === 'in_review') && all;
  });
  expect(told(face)).toContain('there is no tool create_subtasks');
  expect(ready.map((s) => [s.title, s.owner])).toEqual(subtasks.map((s) => [s.title, parent.owner]));
  expect(fileOn(parent.branchName ?? '', 'begun.txt')).toBe('x');
  expect(() => fileOn(parent.branchName ?? '', 'late.txt')).toThrow();
  plays([write('joined.txt', 'x\n')], [finish]);
  for (const sub of ready) {
    await mona('PUT', `${repo}/pulls/${/\d+$/.exec(sub.prUrl ?? '')?.[0]}/merge`, {});
  }
  const after = await settled(number, 'in_review', 2);
  expect(await kinds(after)).toEqual(['continue', 'start']);
  expect(told(face)).toContain('This half is done.');
  const { files } = await world.get<{ files: { path: string }[] }>(`/tasks/${parent.id}/diff`);
  expect(files.map((f) => f.path)).toEqual(expect.arrayContaining(['begun.txt', 'joined.txt']));
  expect((await get(parent)).status).toBe('in_review');
});

test('a retry is set up as the base branch is now, so that no script of before gets a secret of now', async () => {
  const { world, plays, push, settled } = face;
  const script = (name: string) => `mkdir -p kept; echo "${name} $(echo "$LATE_TOKEN" | rev)" > kept/made\n`;
  const look = { name: 'run_command', arguments: { command: 'cat kept/made' } };
  await push('main', '.gitignore', 'kept/\n');
  await push('main', 'setup.sh', script('OLD'));
  await push('main', '.deckhand.yml', 'setup: sh setup.sh\n');
  // What it leaves is kept for the next run, because it may not be pushed.
  const pushes = (push: string) => world.service.api(world.token, 'PATCH', `/projects/${world.project.id}`, { push });
  await pushes('approved');
  plays([look, write('left.txt', 'x\n')], [{ name: 'give_up', arguments: { reason: 'too hard' } }]);
  const number = await world.issue('/agent start');
  const task = await settled(number, 'ready', 1);
  await pushes('free');
  await push('main', 'setup.sh', 'mkdir -p kept; echo NEW > kept/made\n');
  await push('main', '.deckhand.yml', 'setup: sh setup.sh\nsecrets: LATE_TOKEN\n');
  const secret = `/projects/${world.project.id}/environment-secrets/LATE_TOKEN`;
  await world.service.api(world.token, 'PUT', secret, { value: 'canary-of-a-later-secret' });
  plays([look], [write('late.txt', 'x\n')], [finish], [finish]);
  await world.service.api(world.token, 'POST', `/tasks/${task.id}/retry`);
  await settled(number, 'in_review', 2);
  const said = told(face);
  expect(said).toContain('NEW');
  expect(said).not.toContain('terces-retal');
  await world.service.api(world.token, 'DELETE', secret);
});

test('a run waits for a worker with the labels of its repository, and says so', async () => {
  const { world, plays, push, settled, statusComment } = face;
  await push('main', '.deckhand.yml', 'runsOn: [GPU]\n');
  plays([write('labelled.txt', 'x\n')], [finish]);
  const number = await world.issue('/agent start');
  await until('the status to say it', async () =>
    (await statusComment(number))[0]?.body.includes('No running worker has the label gpu'),
  );
  expect(await world.labels(number)).not.toContain('agent:needs-you');
  await world.service.stop();
  world.settings.RUNS_ON = 'linux, gpu';
  await world.restart();
  await settled(number, 'in_review', 1);
});
