import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Face, openFace, write } from '../support/face.ts';
import { gitOut } from '../support/git.ts';

let face: Face;
beforeAll(async () => {
  face = await openFace();
  await face.push('main', '.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n');
  await face.push('main', '.deckhand.yml', 'checkout: { lfs: true }\nchecks: grep -q contents made.bin\n');
});
afterAll(() => face.world.close());

const sha256 = (content: string) => createHash('sha256').update(content).digest('hex');

test('a new file in Git LFS is on the host before its pointer; a refused upload pushes nothing, and the work is kept', async () => {
  const { world, plays, settled, say } = face;
  const folder = world.github.folderOf('mona/sample');
  const oid = sha256('contents\n');
  const object = join(folder, 'lfs/objects', oid.slice(0, 2), oid.slice(2, 4), oid);
  const finish = { name: 'finish', arguments: { summary: 'Done.', nextSteps: [] } };
  const puts: string[] = [];
  let isFull = true;
  world.github.fail((method, path) => {
    if (!path.includes('/info/lfs/objects/')) return undefined;
    puts.push(`${method} ${path.split('/').at(-1)}`);
    return isFull ? { status: 507 } : undefined;
  });
  plays([write('made.bin', 'contents\n')], [finish], [finish]);
  const number = await world.issue('/agent start');
  const failed = await settled(number, 'ready', 1);
  expect(failed.failure).toMatchObject({
    category: 'push_rejected',
    message: expect.stringMatching(
      /^Git LFS: .* could not be uploaded, so nothing was pushed: the host has no space left/,
    ),
  });
  expect(world.github.pushes.filter(({ token }) => token.startsWith('ghs_'))).toEqual([]);
  expect([existsSync(object), gitOut(folder, 'for-each-ref', 'refs/deckhand')]).toEqual([false, '']);

  isFull = false;
  // The files are there again; nothing has to be written.
  plays([finish], [finish]);
  await say(number, '/agent retry');
  const task = await settled(number, 'in_review', 2);
  expect(task.failure).toBeNull();
  expect(readFileSync(object, 'utf8')).toBe('contents\n');
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 9`;
  expect(gitOut(folder, 'show', `${task.branchName}:made.bin`)).toBe(pointer);
});
