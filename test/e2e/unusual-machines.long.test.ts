import type { Said } from '../../demo/model/model.ts';
import { until } from '../../demo/real-service.ts';
import { gitOut } from '../support/git.ts';
import { openWorld, type World } from '../support/world.ts';

/** Plays a script on one issue in a world with these settings. */
async function play(
  script: Said[],
  settings: Record<string, string>,
  look: (world: World, issue: number) => Promise<void>,
) {
  const world = await openWorld(script, { settings });
  try {
    await look(world, await world.issue('/agent start'));
  } finally {
    await world.close();
  }
}

const deleteReadme = { name: 'delete_file', arguments: { path: 'README.md' } };
const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: ['more'] } };

test('without git installed, isomorphic-git completes a task, with file names of all kinds', async () => {
  const odd = 'an odd "näme" & more/ütf 8.txt';
  const write = { name: 'write_file', arguments: { path: odd, content: 'x\n' } };
  await play([[write, deleteReadme], [finish]], { GIT_ENGINE: 'isomorphic' }, async (world) => {
    const task = await world.taskIn('in_review');
    const { files } = await world.get<{ files: { path: string; status: string }[] }>(`/tasks/${task.id}/diff`);
    expect(files.map((f) => [f.path, f.status])).toEqual([
      ['README.md', 'deleted'],
      [odd, 'added'],
    ]);
    const folder = world.github.folderOf('mona/sample');
    const diff = ['-c', 'core.quotePath=false', 'diff', '--name-only', '-z', `main...${task.branchName}`];
    expect(gitOut(folder, ...diff)).toBe(`README.md\0${odd}\0`);
  });
});

test('without an API key a command is refused with the reason in the status comment', async () => {
  await play([], { OPENAI_API_KEY: '', SANDBOX: 'off' }, async (world, number) => {
    await until('the reason', async () =>
      (await world.comments(number)).some((c) => c.user.login === 'deckhand[bot]' && c.body.includes('OPENAI_API_KEY')),
    );
    expect(await world.task()).toMatchObject({ status: 'ready', runCount: 0 });
  });
});

test('a folder nested too deeply for a path is removed with its run, and the service restarts', async () => {
  const deep = 'd=$(printf "%0200d" 0); for i in $(seq 60); do mkdir $d && cd -P $d || exit 1; done; echo deep';
  const call = { name: 'run_command', arguments: { command: deep } };
  await play([[call], [deleteReadme], [finish]], {}, async (world) => {
    const task = await world.taskIn('in_review');
    expect(task.failure).toBeNull();
    await world.service.stop();
    await world.restart();
    expect(await world.get(`/tasks/${task.id}`)).toMatchObject({ status: 'in_review' });
    expect(world.service.log()).not.toContain('ENAMETOOLONG');
  });
});
