import { mock } from 'node:test';
import { idleMs, runInSmallProcess } from '../../demo/github/git/small-process.ts';

const env = { PATH: process.env.PATH };
const shell = (script: string) => runInSmallProcess('sh', ['-c', script], { env });

test('a helper that ends does not fail the commands of the next one', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const first = await shell('echo $PPID');
    const helper = first.output.toString().trim();
    mock.timers.tick(idleMs);
    // This command ends after the first helper has ended.
    const second = await shell(`while kill -0 ${helper} 2>/dev/null; do :; done; echo $PPID`);
    expect(second.problem).toBeUndefined();
    expect(second.output.toString().trim()).toMatch(/^\d+$/);
    expect(second.output.toString().trim()).not.toBe(helper);
  } finally {
    mock.timers.reset();
  }
});

test('a helper that is killed fails its commands, and the next command gets a new one', async () => {
  expect(await shell('kill -9 $PPID')).toMatchObject({ problem: 'the helper process ended' });
  expect(await shell('echo again')).toMatchObject({ problem: undefined, output: Buffer.from('again\n') });
});
