import { execFile, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { RunFailed } from '../domain/run.ts';
import { hostClient } from './host-client.ts';
import { reachable } from './reachable.ts';
import type { Sandbox, SandboxState, ToolHost } from './sandbox.ts';
import { runCommand } from './shell.ts';
import { rootNames, startWalled, type Wall, type Walled } from './walled.ts';

const run = promisify(execFile);
const source = (name: string) => fileURLToPath(new URL(`./${name}.mjs`, import.meta.url));

/** As root the tools run under a number of their own: not nobody, whose process limit PostgreSQL would share. */
const toolUid = 61_234;

export interface SandboxOptions {
  setting: 'auto' | 'bwrap' | 'off';
  /** Copies of Node and the tool host go here when the checkout cannot be reached by the tools' uid. */
  reachableDir: string;
}

type Parts = Pick<Wall, 'node' | 'toolHost' | 'looseEdit' | 'who'>;

/**
 * Finds out what works here and says so. With `bwrap` asked for and not working the caller should refuse to start;
 * there is no silent fall-back to an open shell.
 */
export async function openSandbox({ setting, reachableDir }: SandboxOptions): Promise<Sandbox> {
  const uid = process.getuid?.() === 0 ? toolUid : undefined;
  const who = uid === undefined ? {} : { uid, gid: uid };
  const module = async (name: string) =>
    reachable(source(name), `${name}-${(await stat(source(name))).mtimeMs}.mjs`, reachableDir, who);
  const parts = {
    who,
    node: await reachable(process.execPath, `node-${process.version}`, reachableDir, who),
    toolHost: await module('tool-host'),
    looseEdit: await module('loose-edit'),
  };
  const own = async (folder: string) => {
    if (uid !== undefined) await run('chown', ['-hR', `${uid}:${uid}`, folder]);
  };
  const state = setting === 'off' ? off : await selfTest(parts);
  return {
    state,
    own,
    open: async (workTree, gitDir, signal) => {
      if (!state.works) return openTools(plainHost(parts, workTree), undefined, signal);
      const scratch = { tmp: `${workTree}.tmp`, home: `${workTree}.home` };
      for (const folder of [scratch.tmp, scratch.home]) {
        await mkdir(folder, { recursive: true });
        await own(folder);
      }
      const wall = { ...parts, workTree, gitDir, others: [], scratch };
      return openTools(walledHost(wall), wall, signal);
    },
  };
}

const off: SandboxState = { works: false, says: 'switched off by SANDBOX=off: agents have file tools, no run_command' };

function walledHost(wall: Wall): Walled {
  return startWalled(wall, ['/opt/node/bin/node', '/opt/host.mjs', '/work', '/opt/loose-edit.mjs']);
}

/** The file tools as an ordinary process; as root under the tools' uid. They check every path themselves. */
function plainHost({ node, toolHost, looseEdit, who }: Parts, workTree: string): Walled {
  const child = spawn(node, [toolHost, workTree, looseEdit], { ...who, env: {}, cwd: '/', stdio: 'pipe' });
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const end = () => {
    child.kill('SIGKILL');
    return gone;
  };
  return { child, end };
}

function openTools({ child, end }: Walled, wall: Wall | undefined, signal: AbortSignal): ToolHost {
  const client = hostClient(child);
  const abort = () => void end();
  signal.addEventListener('abort', abort, { once: true });
  return {
    hasShell: wall !== undefined,
    call: async (tool, args) => {
      if (tool !== 'run_command') return client.call(tool, args);
      if (wall === undefined) return { ok: false, text: 'run_command needs a working sandbox, and there is none here' };
      return runCommand(wall, args as { command: string }, signal);
    },
    restore: async (files) => {
      const answer = await client.call('restore', { files });
      if (!answer.ok) throw new RunFailed('sandbox', `the workspace could not be restored: ${answer.text}`);
    },
    mount: (name, workTree, gitDir) => {
      if (!rootNames.has(name)) wall?.others.push({ name, workTree, gitDir });
    },
    close: async () => {
      signal.removeEventListener('abort', abort);
      await end();
    },
  };
}

/** Opens a sandbox on an empty folder and looks from inside whether the wall stands. */
async function selfTest(parts: Parts): Promise<SandboxState> {
  const version = await run('bwrap', ['--version'], { env: { PATH: '/usr/local/bin:/usr/bin:/bin' } }).catch(
    () => undefined,
  );
  if (version === undefined)
    return {
      works: false,
      says: 'bubblewrap is not installed (apt-get install bubblewrap): agents have no run_command',
    };
  const probe = await mkdtemp(join('/var/tmp', 'deckhand-probe-'));
  const [workTree, gitDir, tmp, home] = ['work', 'git', 'tmp', 'home'].map((name) => join(probe, name)) as [
    string,
    string,
    string,
    string,
  ];
  try {
    for (const folder of [workTree, gitDir, tmp, home]) await mkdir(folder);
    for (const folder of [probe, workTree, gitDir, tmp, home]) await chmod(folder, 0o777);
    const wall = { ...parts, workTree, gitDir, others: [], scratch: { tmp, home } };
    const command =
      'id -u; grep -cv lo: /proc/net/dev; (echo x > /proc/sys/kernel/hostname) 2>/dev/null && echo OPEN; exit 0';
    const { text } = await runCommand(wall, { command, timeoutSeconds: 10 }, AbortSignal.timeout(15_000));
    // Two lines of /proc/net/dev are its heading; more would be a network.
    if (text !== '1000\n2\n[exit code 0]') {
      const reason = text.trim().split('\n').slice(-2).join(' ');
      return {
        works: false,
        says: `bubblewrap does not work here (${reason}); user namespaces may be forbidden: agents have no run_command`,
      };
    }
    return {
      works: true,
      says: `${version.stdout.trim()}: agents run commands without network, as an unprivileged user`,
    };
  } finally {
    await rm(probe, { recursive: true, force: true });
  }
}
