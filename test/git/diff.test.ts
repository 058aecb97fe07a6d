import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { diffOf } from '../../src/git/diff.ts';
import { nativeGit } from '../../src/git/native.ts';
import { at, author } from '../support/each-engine.ts';
import { gitOut, serveSampleRepository } from '../support/git.ts';

test('the diff of many rewritten files stalls nobody', async () => {
  const host = await serveSampleRepository();
  const rewrite = (folder: string, end: string) => {
    for (let n = 1; n <= 8; n++) {
      const lines = Array.from({ length: 5000 }, (_, i) => `${(i * 7919 * n) % 99_991}${end}`);
      writeFileSync(join(folder, `data${n}.csv`), lines.join('\n'));
    }
  };
  rewrite(host.work, ',x');
  gitOut(host.work, 'add', '-A');
  gitOut(host.work, 'commit', '-q', '-m', 'data');
  gitOut(host.work, 'push', '-q', host.bare, 'main');
  const folders = { gitDir: join(host.root, 'g'), workTree: join(host.root, 'w') };
  const checkout = await nativeGit().open({ url: host.url, token: 'good-token' }, folders);
  const base = (await checkout.fetch('main')) ?? '';
  await checkout.checkout(base);
  rewrite(folders.workTree, ';y');
  const tree = await checkout.snapshot();
  const commit = await checkout.commit({ tree, parents: [base], message: 'm\n', author, at });
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const { files } = await diffOf(checkout, base, commit);
  delay.disable();
  await checkout.close();
  host.close();
  expect(files.map((f) => f.status)).toEqual(Array(8).fill('modified'));
  // On the service's own thread it was two seconds for each file.
  expect(delay.max / 1e6).toBeLessThan(1500);
});
