import { type Face, openFace, repo, write } from '../support/face.ts';
import { gitOut } from '../support/git.ts';

let face: Face;
beforeAll(async () => {
  face = await openFace({ settings: { SANDBOX: 'off' } });
});
afterAll(() => face.world.close());

interface Pull {
  title: string;
  body: string;
  draft: boolean;
  labels: { name: string }[];
  requested_reviewers: { login: string }[];
  assignees: { login: string }[];
}
const finish = (more: object = {}) => ({ name: 'finish', arguments: { summary: 'Done.', nextSteps: [], ...more } });
const told = () => JSON.stringify(face.world.model.requests.at(-1)?.messages);
const pullOf = (task: Parameters<Face['pullOf']>[0]) => face.mona<Pull>('GET', `${repo}/pulls/${face.pullOf(task)}`);
const git = (...args: string[]) => gitOut(face.world.github.folderOf('mona/sample'), ...args);

test('titles, messages, sign-off and branches follow the customs of the repository', async () => {
  const { world, plays, push, settled } = face;
  await push(
    'main',
    '.commitlintrc.yml',
    'extends: "@commitlint/config-conventional"\nrules: { type-enum: [2, always, [feat, fix, chore]] }\n',
  );
  await push('main', '.deckhand.yml', 'branch: bot/{issue}-{id}\nsignOff: true\n');
  plays(
    [write('src/made.js', 'good\n'), finish({ title: 'Add a Made File.' })],
    [finish({ title: 'Add a Made File.' })],
  );
  const number = await world.issue('/agent start');
  const task = await settled(number, 'in_review', 1);
  expect(told()).toContain('subject may not end with full stop');
  expect(told()).toContain('The types are feat, fix, chore.');
  expect(task.branchName).toBe(`bot/${number}-${task.id.slice(-8)}`);
  expect((await pullOf(task)).title).toBe('feat: add a Made File');
  const [subject = '', ...message] = git('log', '-1', '--format=%B', task.branchName ?? '').split('\n');
  const author = git('log', '-1', '--format=%an <%ae>', task.branchName ?? '');
  expect(subject).toBe('feat: add a Made File');
  expect(message.filter((line) => line.startsWith('Signed-off-by: '))).toEqual([`Signed-off-by: ${author}`]);
});

test('a branch of somebody else is left alone, and the next name is taken', async () => {
  const { world, plays, push } = face;
  await push('main', '.deckhand.yml', 'branch: same-{id}\n');
  plays([write('src/other.js', 'good\n'), finish({ title: 'feat: another' })], [finish({ title: 'feat: another' })]);
  const [agent] = await world.get<{ id: string }[]>('/agents');
  const post = <T>(path: string, body?: object) => world.service.api<T>(world.token, 'POST', path, body);
  const made = { title: 'Do it', owner: agent?.id };
  const { id } = await post<{ id: string }>(`/projects/${world.project.id}/tasks`, made);
  const taken = `same-${id.slice(-8)}`;
  git('branch', taken, 'main');
  const before = git('rev-parse', taken);
  await post(`/tasks/${id}/start`);
  const task = await world.taskIn('in_review');
  expect(task).toMatchObject({ id, branchName: `${taken}-2` });
  expect(git('rev-parse', taken)).toBe(before);
});

test('the agent fills the template; its headings and boxes are kept, and our part is folded below', async () => {
  const { world, plays, push, settled } = face;
  await push('main', '.deckhand.yml', '{}\n');
  await push('main', '.changeset/config.json', '{}\n');
  await push(
    'main',
    '.github/PULL_REQUEST_TEMPLATE.md',
    '<!-- Hello -->\n## What\n\n## Checklist\n- [ ] I tested it\n- [ ] I asked @mona\n',
  );
  const body = '## What\nIt says hello.\n\n- [x] I tested it';
  plays(
    [write('src/hello.js', 'hi\n'), finish({ title: 'feat: hello', body })],
    [finish({ title: 'feat: hello', body })],
  );
  const number = await world.issue('/agent start');
  const task = await settled(number, 'in_review', 1);
  for (const said of [
    '## Template for pull requests\\nFill it in',
    '<!-- Hello -->',
    'Releases are written with changesets',
    'A first version',
    'leaves out parts of the template .github/PULL_REQUEST_TEMPLATE.md: \\"## Checklist\\", \\"- [ ] I asked @mona\\"',
  ])
    expect(told()).toContain(said);
  const pull = await pullOf(task);
  expect(pull.body).toMatch(
    /^## What\nIt says hello\.\n\n- \[x\] I tested it\n\n## Checklist\n\n- \[ \] I asked @\u2060mona\n\n<details><summary>Deckhand<\/summary>\n\n[\s\S]*Closes #\d+\n\n---\nWork of the agent [\s\S]*<\/details>$/,
  );
});

test('labels, reviewers, assignees and a draft, once; who cannot be asked is left out and named', async () => {
  const { world, plays, push, settled, mona, as } = face;
  await push('main', 'docs/pull_request_template.md', '## What\n');
  await push(
    'main',
    '.deckhand.yml',
    'pullRequest: { labels: [bot, review me], reviewers: [mona, stranger, acme/core], assignees: [mona, stranger, nobody-here], draft: always }\n',
  );
  const title = 'feat: labelled';
  plays([write('src/labelled.js', 'a\n'), finish({ title })], [finish({ title })]);
  const number = await world.issue('/agent start');
  const task = await settled(number, 'in_review', 1);
  const pull = await pullOf(task);
  expect(pull).toMatchObject({ draft: true, requested_reviewers: [{ login: 'mona' }], assignees: [{ login: 'mona' }] });
  expect(pull.labels.map(({ name }) => name)).toEqual(expect.arrayContaining(['bot', 'review me']));
  const left = [
    'the reviewer acme/core, a team of',
    'the reviewer stranger, whom',
    'the assignee stranger, whom',
    'the assignee nobody-here, whom',
  ];
  for (const each of left) expect(pull.body).toContain(each);
  expect(pull.body).not.toContain('mona, whom');
  expect(pull.body).toMatch(/^## What\n\nDone\.\n[\s\S]*<\/details>$/);
  const [run] = await world.get<{ id: string }[]>(`/tasks/${task.id}/runs`);
  const log = JSON.stringify(await world.get(`/runs/${run?.id}/events`));
  for (const each of left) expect(log).toContain(each);
  // People decide from here on: a later run adds nothing again.
  await mona('DELETE', `${repo}/issues/${face.pullOf(task)}/labels/bot`);
  plays([write('src/labelled.js', 'b\n'), finish({ title })], [finish({ title })]);
  await as('mona')('POST', `${repo}/issues/${number}/comments`, { body: '/agent revise Say b.' });
  await settled(number, 'in_review', 2);
  const later = await pullOf(task);
  expect(later.labels.map(({ name }) => name)).not.toContain('bot');
  // Each run signs a receipt of its own.
  const withoutRun = (body: string) => body.replace(/run_\w+/g, 'run');
  expect([later.draft, withoutRun(later.body)]).toEqual([true, withoutRun(pull.body)]);
});
