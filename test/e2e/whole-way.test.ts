import { issue, script } from '../../demo/model/story.ts';
import { until } from '../../demo/real-service.ts';
import { gitOut } from '../support/git.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let number: number;
const canaries = () => [
  ...world.github.pushes.map((p) => p.token),
  world.settings.OPENAI_API_KEY,
  world.settings.JWT_SECRET,
  world.settings.ENCRYPTION_KEY,
  world.github.webhookSecret,
  world.settings.PRIVATE_KEY?.split('\n')[1],
  'ghp_canary_of_the_project_0123456789',
  'sk-canary-model-token-0123456789',
];

beforeAll(async () => {
  world = await openWorld(script);
  const { api } = world.service;
  await api(world.token, 'POST', `/projects/${world.project.id}/git-token`, {
    token: 'ghp_canary_of_the_project_0123456789',
  });
  number = await world.issue('/agent start', issue);
});
afterAll(() => world.close());

test('a comment becomes a pull request by the bot, and the diff endpoint agrees with git', async () => {
  const task = await world.taskIn('in_review');
  expect(task).toMatchObject({ title: issue.title, failure: null, runCount: 1 });
  const [pull] = await world.github.as('mona')<
    { user: { login: string }; html_url: string; body: string; head: { ref: string; sha: string } }[]
  >('GET', '/repos/mona/sample/pulls');
  expect(pull?.user.login).toBe('deckhand[bot]');
  expect(pull?.html_url).toBe(task.prUrl);
  expect(pull?.head.ref).toBe(task.branchName);
  expect(pull?.body).toContain(`Closes #${number}`);

  const bare = world.github.folderOf('mona/sample');
  const branch = task.branchName ?? '';
  const { files, baseBranch } = await world.get<{
    baseBranch: string;
    files: { path: string; status: string; additions: number; deletions: number; hunks: { lines: string[] }[] }[];
  }>(`/tasks/${task.id}/diff`);
  expect(baseBranch).toBe('main');
  const numstat = gitOut(bare, 'diff', '--numstat', `main...${branch}`);
  expect(files.map((f) => `${f.additions}\t${f.deletions}\t${f.path}`).join('\n')).toBe(numstat);
  for (const file of files) {
    const body = gitOut(bare, 'diff', `main...${branch}`, '--', file.path)
      .split('\n')
      .filter((l) => /^[ +-]/.test(l) && !/^(\+\+\+|---) /.test(l));
    expect(file.hunks.flatMap((h) => h.lines).map((l) => l.trimEnd())).toEqual(body.map((l) => l.trimEnd()));
  }
  const [author, message] = [
    gitOut(bare, 'log', '-1', '--format=%an <%ae>', branch),
    gitOut(bare, 'log', '-1', '--format=%B', branch),
  ];
  expect(author).toMatch(/^deckhand\[bot\] <\d+\+deckhand\[bot\]@users\.noreply\./);
  expect(message).toMatch(/Co-authored-by: mona <\d+\+mona@users\.noreply/);
});

test('the push used an installation token and changed only the agent branch', async () => {
  expect(world.github.pushes).toHaveLength(1);
  expect(world.github.pushes[0]?.token).toMatch(/^ghs_/);
  const refs = gitOut(world.github.folderOf('mona/sample'), 'for-each-ref', '--format=%(refname:short)');
  expect(refs.split('\n')).toEqual([(await world.task()).branchName, 'main']);
  const minted = await world.github.as('mona')<{ tokens?: object[] }>('GET', '/_emulate/installation-tokens');
  expect(JSON.stringify(minted)).toMatch(/"contents":"write"/);
});

test('the issue has one state label and one status comment, and the command has its reactions', async () => {
  // The new label is added before the old one is removed.
  await until(
    'the one label',
    async () => (await world.labels(number)).filter((l) => l.startsWith('agent:')).join() === 'agent:in-review',
  );
  const own = (await world.comments(number)).filter((c) => c.user.login === 'deckhand[bot]');
  expect(own).toHaveLength(1);
  const { id, prUrl } = await world.task();
  const pull = await world.github.as('mona')<{ body: string }>(
    'GET',
    `/repos/mona/sample/pulls/${prUrl?.split('/').at(-1)}`,
  );
  const page = `[${id}](${world.service.url}/tasks/${id})`;
  expect([own[0]?.body, pull.body]).toEqual([expect.stringContaining(page), expect.stringContaining(page)]);
  await until('the rocket', async () => world.github.reactions.some((r) => r.content === 'rocket'));
  expect(world.github.reactions.map((r) => r.content)).toEqual(['eyes', 'rocket']);
});

test('when a person merges on GitHub, the task is done, and its label and comment show it', async () => {
  const task = await world.task();
  const pull = task.prUrl?.split('/').at(-1);
  await world.github.as('mona')('PUT', `/repos/mona/sample/pulls/${pull}/merge`, { merge_method: 'squash' });
  await world.taskIn('done');
  await until('agent:done', async () => (await world.labels(number)).join() === 'agent:done');
  await until('agent:done on the pull request', async () => (await world.labels(Number(pull))).join() === 'agent:done');
  expect(await world.get(`/tasks/${task.id}/prs`)).toEqual([
    {
      repositoryId: expect.any(String),
      repositoryName: 'sample',
      prUrl: task.prUrl,
      prNumber: Number(pull),
      status: 'merged',
    },
  ]);
  const { handoffs } = await world.get<{ handoffs: { summary: string }[] }>(`/tasks/${task.id}/handoffs`);
  expect(handoffs).toHaveLength(1);
  expect(handoffs[0]?.summary).toContain('NFKD');
});

test('no secret appears in the log, on GitHub or in the database', async () => {
  const shown = JSON.stringify([
    await world.comments(number),
    await world.github.as('mona')('GET', '/repos/mona/sample/pulls?state=all'),
  ]);
  const dump = await world.dump();
  const asked = JSON.stringify(world.model.requests);
  for (const canary of canaries()) {
    expect(canary).toEqual(expect.any(String));
    for (const [place, text] of Object.entries({ log: world.service.log(), shown, dump, asked }))
      expect([place, text.includes(String(canary))]).toEqual([place, false]);
  }
});

test('every delivery is answered, from the labels that the service creates at its start, and stored if it was accepted', async () => {
  // Events of the merge may still be sent, and a busy database may store late.
  await until('all of them', async () => {
    const { deliveries } = world.github;
    const stored = new Set((await world.sql<{ guid: string }>('select guid from deliveries', [])).map((d) => d.guid));
    const isDone = deliveries.every(({ guid, status }) => status !== 0 && (status !== 202 || stored.has(guid)));
    return isDone && deliveries.some(({ event }) => event === 'label');
  });
});
