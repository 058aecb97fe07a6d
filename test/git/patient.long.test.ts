import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { patient } from '../../src/git/attempts.ts';
import { isomorphicProcess } from '../../src/git/javascript/isomorphic-process.ts';
import { nativeGit } from '../../src/git/native/native.ts';
import { gitOut, serveSampleRepository } from '../support/git.ts';

test.each([
  ['native', nativeGit],
  ['isomorphic', isomorphicProcess],
])('%s: fetches and pushes survive one failure of the remote, and report a permanent one', async (_name, engine) => {
  const repository = await serveSampleRepository();
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-patient-'));
  const remote = { url: repository.url, token: 'good-token' };
  const folders = { gitDir: join(folder, 'git'), workTree: join(folder, 'work') };
  const checkout = await patient(engine()).open(remote, folders);
  try {
    repository.stumble(1);
    expect(await checkout.fetch('main')).toMatch(/^[0-9a-f]{40}$/);
    const tree = await checkout.treeOf((await checkout.fetch('main')) ?? '');
    const commit = await checkout.commit({
      tree,
      parents: [],
      message: 'x',
      author: { name: 'a', email: 'a@example.com' },
      at: new Date('2026-01-01T00:00:00Z'),
    });
    repository.stumble(1);
    await checkout.push(commit, 'agent/x');
    expect(gitOut(repository.bare, 'rev-parse', 'agent/x')).toBe(commit);
    repository.stumble(1);
    expect(await checkout.fetchCommit(gitOut(repository.bare, 'rev-parse', 'main'))).toBe(true);
    repository.stumble(100);
    await expect(checkout.fetch('main')).rejects.toMatchObject({ fault: 'unreachable' });
  } finally {
    await checkout.close();
    repository.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
