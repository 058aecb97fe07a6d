import { until } from '../../../demo/real-service.ts';
import { type Face, openFace, repo, write } from '../../support/face.ts';
import { gitOut } from '../../support/git.ts';

let face: Face;
beforeAll(async () => {
  face = await openFace();
});
afterAll(() => face.world.close());

interface Run {
  id: string;
  status: string;
  failure: { message: string } | null;
}
const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };

test('a rewind to a run that merged another base brings nothing of that base into a pull request', async () => {
  const { world, plays, push, mona, pullOf, settled, say } = face;
  const api = <T>(method: string, path: string, body?: object) => world.service.api<T>(world.token, method, path, body);
  const runs = (id: string) => world.get<Run[]>(`/tasks/${id}/runs`);
  const reconcile = () => api('POST', '/agents/pool/reconcile').catch(() => {});
  await push('main', '.deckhand.yml', 'checks: "true"\n');
  await push('main', 'shared.txt', 'one\n');
  const bare = world.github.folderOf('mona/sample');
  gitOut(bare, 'branch', '-f', 'dev', 'main');
  await world.github.showBranches('mona/sample');
  plays([write('shared.txt', 'ours\n')], [finish]);
  const number = await world.issue('/agent create');
  await face.taskOf(number);
  await say(number, '/agent base dev');
  await until(
    'the base',
    async () => (await world.get<{ base: string }>(`/tasks/${(await face.taskOf(number)).id}`)).base === 'dev',
  );
  await say(number, '/agent start');
  const task = await settled(number, 'in_review', 1);

  // The next run merges dev, which has a workflow, because the two conflict. It pushes nothing.
  await api('PATCH', `/projects/${world.project.id}`, { push: 'approved' });
  plays([write('shared.txt', 'both\n')], [{ name: 'give_up', arguments: { reason: 'too hard' } }]);
  await push('dev', '.github/workflows/evil.yml', 'on: push\njobs: {}\n');
  await push('dev', 'shared.txt', 'theirs\n');
  const [merging] = await until('the run that merges', async () => {
    await reconcile();
    const all = await runs(task.id);
    return all.length === 2 && all[0]?.status === 'failed' && all;
  });

  await mona('PATCH', `${repo}/pulls/${pullOf(task)}`, { base: 'main' });
  await mona('DELETE', `${repo}/git/refs/heads/dev`);
  await until('the new base', async () => {
    await reconcile();
    const [pull] = await world.sql<{ base: string }>('select base_branch as base from pull_requests', []);
    return pull?.base === 'main';
  });
  await api('PATCH', `/projects/${world.project.id}`, { push: 'free' });
  plays('', [write('more.txt', 'x\n')], [finish]);
  await api('POST', `/tasks/${task.id}/rewind`, { runId: merging?.id, turn: 1 });
  const [last] = await until('the rewound run', async () => {
    const all = await runs(task.id);
    return all.length === 3 && ['failed', 'succeeded'].includes(all[0]?.status ?? '') && all;
  });
  const branch = (await mona<{ head: { ref: string } }>('GET', `${repo}/pulls/${pullOf(task)}`)).head.ref;
  expect(gitOut(bare, 'diff', '--name-only', `main...${branch}`)).not.toContain('evil.yml');
  expect(last?.failure?.message).toContain('the branch main does not have the commit from which the run began');
});
