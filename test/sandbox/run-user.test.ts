import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { takeRunUser } from '../../src/sandbox/limits/run-user.ts';

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn('skipped: only root gives each run a user of its own');
const asRoot = isRoot ? test : test.skip;
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

/** Reserves a user in a new process, which holds it until it is killed. */
async function takeElsewhere() {
  const module = fileURLToPath(new URL('../../src/sandbox/limits/run-user.ts', import.meta.url));
  const program = `const { takeRunUser } = await import(${JSON.stringify(module)});
    console.log((await takeRunUser()).uid); setInterval(() => {}, 1e6);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [line] = await once(child.stdout, 'data');
  return { uid: Number(line), child };
}

asRoot('no two runs of this machine have a user in common, in whichever process they are', async () => {
  const [one, other, elsewhere] = await Promise.all([takeRunUser(), takeRunUser(), takeElsewhere()]);
  expect(new Set([one.uid, other.uid, elsewhere.uid]).size).toBe(3);
  for (const { uid } of [one, other, elsewhere]) expect([uid >= 61_234, uid <= 62_233]).toEqual([true, true]);
  elsewhere.child.kill('SIGKILL');
  await once(elsewhere.child, 'exit');
  await one.release();
  await other.release();
});

asRoot('a user with a running process is passed over, and the process left alone', async () => {
  const first = await takeRunUser();
  const left = spawn('sleep', ['1000'], { uid: first.uid, gid: first.uid });
  children.push(left);
  await once(left, 'spawn');
  await first.release();
  const next = await takeRunUser();
  expect(next.uid).not.toBe(first.uid);
  expect(left.exitCode).toBeNull();
  await next.release();
});
