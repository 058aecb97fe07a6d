import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { SandboxState } from './sandbox.ts';
import { socketFilter } from './seccomp.ts';
import { runCommand } from './shell.ts';
import { limits, type Wall, type WallParts } from './walled.ts';

const run = promisify(execFile);

/** What a command must find when it looks around: one line each. */
const wanted = [
  ['is an unprivileged user', 'id -u', '1000'],
  // The heading is two lines; more than that would be a network.
  ['has no network', 'grep -cv lo: /proc/net/dev', '2'],
  ['cannot set the kernel', '(echo x > /proc/sys/kernel/hostname) 2>/dev/null && echo open || echo closed', 'closed'],
  [
    'cannot write the system',
    'for d in / /usr /etc /opt /dev; do (: > $d/x) 2>/dev/null && echo $d; done; echo closed',
    'closed',
  ],
  ['sees no environment of ours', 'env | grep -c TOKEN', '0'],
  // In the shell's own units: kilobytes, processes, blocks of 512 bytes.
  ['is limited in memory', 'ulimit -d', String(limits.data / 1024)],
  ['is limited in processes', 'ulimit -p', String(limits.nproc)],
  ['is limited in file size', 'ulimit -f', String(limits.fsize / 512)],
  ['leaves no core file', 'ulimit -c', String(limits.core)],
  [
    'makes no sockets that leave a network namespace',
    "sed -n 's/^Seccomp:[[:space:]]*//p' /proc/self/status",
    socketFilter() === undefined ? '0' : '2',
  ],
] as const;

/** Time enough to write far more than is shown; on a busy machine it takes longer to begin. */
const triedSeconds = [0.2, 1, 4];

/** Opens a sandbox on empty folders and looks from inside, and from outside afterwards, whether each part of the wall stands. */
export async function selfTest(parts: WallParts): Promise<SandboxState> {
  const version = await run('bwrap', ['--version'], { env: { PATH: '/usr/local/bin:/usr/bin:/bin' } }).catch(
    () => undefined,
  );
  if (version === undefined) return broken('bubblewrap is not installed (apt-get install bubblewrap)');
  const probe = await mkdtemp(join('/var/tmp', 'deckhand-probe-'));
  try {
    const [workTree = '', gitDir = '', tmp = '', home = ''] = ['work', 'git', 'tmp', 'home'].map((n) => join(probe, n));
    for (const folder of [workTree, gitDir, tmp, home]) await mkdir(folder);
    for (const folder of [probe, workTree, gitDir, tmp, home]) await chmod(folder, 0o777);
    const wall = { ...parts, workTree, gitDir, others: [], scratch: { tmp, home } };
    const missing = (await lookAround(wall)) ?? (await runWild(wall));
    if (missing !== undefined)
      return broken(`bubblewrap does not work here (${missing}); user namespaces may be forbidden`);
    return {
      works: true,
      says: `${version.stdout.trim()}: agents run commands without network, as an unprivileged user`,
    };
  } finally {
    await rm(probe, { recursive: true, force: true });
  }
}

const broken = (why: string): SandboxState => ({ works: false, says: `${why}: agents have no run_command` });

async function lookAround(wall: Wall): Promise<string | undefined> {
  const command = wanted.map(([, look]) => look).join('\n');
  const { text } = await runCommand(wall, { command, timeoutSeconds: 10 }, AbortSignal.timeout(15_000));
  const found = text.trim().split('\n');
  // Without that many lines nothing has run, and what stands there is the reason.
  if (found.length <= wanted.length) return found.slice(-2).join(' ');
  const failed = wanted.find(([, , value], i) => found[i] !== value);
  return failed && `a command there is not what it should be: it ${failed[0]}`;
}

/** Writes without end, for ever, with a process that wants to stay. */
async function runWild(wall: Wall, [seconds = 0, ...longer]: number[] = triedSeconds): Promise<string | undefined> {
  // A number that no other process has as its argument.
  const mark = `${process.pid}${Date.now()}`;
  const command = `setsid sleep ${mark} & yes`;
  const { text } = await runCommand(wall, { command, timeoutSeconds: seconds }, AbortSignal.timeout(15_000));
  if (!text.endsWith(`[stopped after ${seconds} s]`)) return 'the time of a command is not limited';
  if (!text.includes('characters cut'))
    return longer.length > 0 ? runWild(wall, longer) : 'the output of a command is not limited';
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line.includes(`sleep\0${mark}`)) return 'a command leaves processes behind';
  }
  return undefined;
}
