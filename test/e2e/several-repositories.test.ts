import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Script } from '../../src/demo/model/model.ts';
import { until } from '../../src/demo/real-service.ts';
import { gitAsync, gitOut } from '../support/git.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
const script: Script = [
  [{ name: 'open_repository', arguments: { name: 'nope' } }],
  [
    { name: 'read_file', arguments: { path: '../Docs/README.md' } },
    { name: 'open_repository', arguments: { name: 'docs' } },
  ],
  [
    { name: 'read_file', arguments: { path: '../Docs/README.md' } },
    { name: 'write_file', arguments: { path: 'made.txt', content: 'here\n' } },
    { name: 'write_file', arguments: { path: '../Docs/guide.md', content: 'there\n' } },
    { name: 'write_file', arguments: { path: '../../etc/x', content: 'x' } },
  ],
  [{ name: 'run_command', arguments: { command: 'cat made.txt ../Docs/guide.md && git -C ../Docs status --short' } }],
  [{ name: 'finish', arguments: { summary: 'Done in both.', nextSteps: [] } }],
];

beforeAll(async () => {
  world = await openWorld(script, { seed: { more: ['Docs'] } });
});
afterAll(() => world.close());

test('each changed repository gets a branch and a pull request that links to the other; the task is done when both are merged', async () => {
  await until('both repositories', async () => (await world.get<unknown[]>('/repositories')).length === 2);
  const docs = mkdtempSync(join(tmpdir(), 'deckhand-docs-'));
  const url = `${world.github.url.replace('http://', 'http://x:person-mona@')}/mona/Docs.git`;
  await gitAsync(docs, 'clone', '-q', url, '.');
  writeFileSync(join(docs, '.deckhand.yml'), 'checks: grep there guide.md\n');
  await gitAsync(docs, 'add', '-A');
  await gitAsync(docs, 'commit', '-q', '-m', 'checks');
  await gitAsync(docs, 'push', '-q', 'origin', 'HEAD');
  rmSync(docs, { recursive: true, force: true });
  await world.issue('/agent start');
  const task = await world.taskIn('in_review');
  const answers =
    world.model.requests
      .at(-1)
      ?.messages.filter((m) => m.role === 'tool')
      .map((m) => String(m.content)) ?? [];
  expect(answers[0]).toMatch(/this run cannot open a repository nope; it can open: Docs/);
  expect(answers[1]).toMatch(/\.\.\/Docs is not open/);
  expect(answers[2]).toMatch(/^open at \.\.\/Docs\//);
  expect(answers[3]).toContain('slugify');
  expect(answers[6]).toMatch(/^Error/);
  expect(answers[7]).toContain('here\nthere\n?? guide.md');
  const pulls = await world.get<{ repositoryName: string; prUrl: string; prNumber: number; status: string }[]>(
    `/tasks/${task.id}/prs`,
  );
  expect(pulls.map((p) => [p.repositoryName, p.status])).toEqual([
    ['sample', 'open'],
    ['Docs', 'open'],
  ]);
  expect(task.prUrl).toBe(pulls[0]?.prUrl);
  for (const [i, name] of ['mona/sample', 'mona/Docs'].entries()) {
    const path = i === 0 ? 'made.txt' : 'guide.md';
    expect(gitOut(world.github.folderOf(name), 'show', '--format=', '--name-only', task.branchName ?? '')).toBe(path);
    const { body } = await world.github.as('mona')<{ body: string }>(
      'GET',
      `/repos/${name}/pulls/${pulls[i]?.prNumber}`,
    );
    expect(body).toContain(`- ${pulls[1 - i]?.prUrl}`);
    expect(body.includes('✅ `grep there guide.md`')).toBe(name === 'mona/Docs');
  }
  // The diff of a task covers its own repository only.
  const { files } = await world.get<{ files: { path: string }[] }>(`/tasks/${task.id}/diff`);
  expect(files.map((f) => f.path)).toEqual(['made.txt']);
  await world.github.as('mona')('PUT', `/repos/mona/Docs/pulls/${pulls[1]?.prNumber}/merge`, {});
  await until(
    'the one merged',
    async () => (await world.get<{ status: string }[]>(`/tasks/${task.id}/prs`))[1]?.status === 'merged',
  );
  expect((await world.task()).status).toBe('in_review');
  expect(await world.service.api<{ status: string }>(world.token, 'POST', `/tasks/${task.id}/merge`)).toMatchObject({
    status: 'done',
  });
  expect(gitOut(world.github.folderOf('mona/Docs'), 'show', 'main:guide.md')).toBe('there');
});
