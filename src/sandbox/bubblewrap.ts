import { type ChildProcess, execFile, type StdioOptions, spawn } from 'node:child_process';
import { access, chmod, constants, copyFile, link, lstat, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { RunFailed } from '../domain/run.ts';
import type { Sandbox, SandboxState, ToolAnswer, ToolHost } from './sandbox.ts';

const run = promisify(execFile);
const hostSource = fileURLToPath(new URL('./tool-host.mjs', import.meta.url));

/** As root the tools run under a number of their own: not nobody, whose process limit PostgreSQL would share. */
const toolUid = 61_234;
const passwd = 'root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000:agent:/home/agent:/bin/sh\n';
const limits = ['--nproc=4096', '--fsize=2147483648', '--core=0'];

export interface SandboxOptions {
  setting: 'auto' | 'bwrap' | 'off';
  /** Copies of Node and the tool host go here when the checkout cannot be reached by the tools' uid. */
  reachableDir: string;
}

/**
 * Finds out what works here and says so. With `bwrap` asked for and not working the caller should refuse to start;
 * there is no silent fall-back to an open shell.
 */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const uid = process.getuid?.() === 0 ? toolUid : undefined;
  const who = uid === undefined ? {} : { uid, gid: uid };
  const node = await reachable(process.execPath, `node-${process.version}`, options.reachableDir, who);
  const host = await reachable(
    hostSource,
    `tool-host-${(await stat(hostSource)).mtimeMs}.mjs`,
    options.reachableDir,
    who,
  );
  const state = options.setting === 'off' ? off : await selfTest(node, host, who);
  const own = async (workTree: string) => {
    if (uid !== undefined) await run('chown', ['-hR', `${uid}:${uid}`, workTree]);
  };
  return {
    state,
    own,
    open: async (workTree, gitDir, signal) => {
      if (state.works) return toolHost(start(node, host, workTree, gitDir, who), true, signal);
      const child = spawn(node, [host, workTree, 'files'], { ...who, ...bare, stdio: 'pipe' });
      return toolHost(child, false, signal);
    },
  };
}

const bare = { env: {}, cwd: '/' };
/** The passwd file of the sandbox comes over this descriptor. */
const passwdFd = 3;
const off: SandboxState = { works: false, says: 'switched off by SANDBOX=off: agents have file tools, no run_command' };

function start(node: string, host: string, workTree: string, gitDir: string, who: object): ChildProcess {
  const stdio: StdioOptions = ['pipe', 'pipe', 'pipe', 'pipe'];
  const child = spawn('prlimit', wrapped(node, host, workTree, gitDir), { ...who, ...bare, stdio });
  const passwdPipe = child.stdio[passwdFd] as Writable;
  passwdPipe.on('error', () => {});
  passwdPipe.end(passwd);
  return child;
}

/** The command line behind `prlimit`; `--unshare-all` takes the network away too. */
function wrapped(node: string, host: string, workTree: string, gitDir: string): string[] {
  return [
    ...limits,
    '--',
    'bwrap',
    ...['--unshare-all', '--unshare-user', '--disable-userns', '--uid', '1000', '--gid', '1000'],
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--hostname', 'sandbox'],
    ...['--ro-bind', '/usr', '/usr'],
    ...['bin', 'sbin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ...['/etc/alternatives', '/etc/ld.so.cache', '/etc/ssl/certs'].flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--ro-bind-data', String(passwdFd), '/etc/passwd'],
    ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--tmpfs', '/home/agent'],
    ...['--ro-bind', node, '/opt/node/bin/node', '--ro-bind', host, '/opt/host.mjs'],
    ...['--bind', workTree, '/work', '--ro-bind', gitDir, '/work/.git', '--chdir', '/work'],
    ...['--clearenv', '--setenv', 'PATH', '/opt/node/bin:/usr/local/bin:/usr/bin:/bin'],
    ...['--setenv', 'HOME', '/home/agent', '--setenv', 'LANG', 'C.UTF-8', '--setenv', 'CI', 'true'],
    '/opt/node/bin/node',
    '/opt/host.mjs',
    '/work',
    'shell',
  ];
}

/** Opens a sandbox on an empty folder and looks from inside whether the wall stands. */
async function selfTest(node: string, host: string, who: object): Promise<SandboxState> {
  const version = await run('bwrap', ['--version'], { env: { PATH: '/usr/local/bin:/usr/bin:/bin' } }).catch(
    () => undefined,
  );
  if (version === undefined)
    return {
      works: false,
      says: 'bubblewrap is not installed (apt-get install bubblewrap): agents have no run_command',
    };
  const probe = await mkdtemp(join('/var/tmp', 'deckhand-probe-'));
  try {
    for (const folder of ['work', 'git']) await mkdir(join(probe, folder));
    for (const folder of ['.', 'work', 'git']) await chmod(join(probe, folder), 0o777);
    const child = start(node, host, join(probe, 'work'), join(probe, 'git'), who);
    const tools = toolHost(child, true, AbortSignal.timeout(10_000));
    const command =
      'id -u; ls /proc/sys/kernel >/dev/null && (echo x > /proc/sys/kernel/hostname) 2>/dev/null && echo OPEN; cat /proc/net/route | wc -l; cat /proc/1/environ | tr "\\0" "\\n" | wc -l';
    const answer = await tools.call('run_command', { command }).finally(() => tools.close());
    const [inner, routes] = answer.text.split('\n');
    if (!answer.ok || inner !== '1000' || answer.text.includes('OPEN') || Number(routes) > 1)
      return {
        works: false,
        says: `bubblewrap starts but the wall has a hole (${answer.text.replaceAll('\n', ' ')}): agents have no run_command`,
      };
    return {
      works: true,
      says: `${version.stdout.trim()}: agents run commands without network, as an unprivileged user`,
    };
  } catch (error) {
    const reason = (error as Error).message.split('\n')[0];
    return {
      works: false,
      says: `bubblewrap does not work here (${reason}); user namespaces may be forbidden: agents have no run_command`,
    };
  } finally {
    await rm(probe, { recursive: true, force: true });
  }
}

function toolHost(child: ChildProcess, hasShell: boolean, signal: AbortSignal): ToolHost {
  const waiting = new Map<number, { resolve: (answer: ToolAnswer) => void; reject: (error: Error) => void }>();
  let last = 0;
  let complaint = '';
  let gone: RunFailed | undefined;
  const closed = new Promise<void>((resolve) => {
    const end = (why: string) => {
      gone ??= new RunFailed('sandbox', `the tool host ended: ${complaint.trim().split('\n').pop() || why}`);
      for (const call of waiting.values()) call.reject(gone);
      waiting.clear();
      resolve();
    };
    child.once('error', (error) => end(error.message));
    child.once('close', (code, by) => end(by ?? `code ${code}`));
  });
  const kill = () => child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    complaint = (complaint + chunk).slice(-2000);
  });
  child.stdin?.on('error', () => {});
  if (child.stdout)
    createInterface({ input: child.stdout }).on('line', (line) => {
      // Only the host writes here; a command's output is inside its answers. What cannot be read ends the host.
      try {
        const answer = JSON.parse(line) as ToolAnswer & { id: number };
        waiting.get(answer.id)?.resolve({ ok: answer.ok, text: answer.text });
        waiting.delete(answer.id);
      } catch {
        kill();
      }
    });
  const call = (tool: string, args: object) => {
    if (gone !== undefined) return Promise.reject(gone);
    const id = ++last;
    const answer = new Promise<ToolAnswer>((resolve, reject) => waiting.set(id, { resolve, reject }));
    child.stdin?.write(`${JSON.stringify({ id, tool, args })}\n`);
    return answer;
  };
  return {
    hasShell,
    call,
    restore: async (files) => {
      const answer = await call('restore', { files });
      if (!answer.ok) throw new RunFailed('sandbox', `the workspace could not be restored: ${answer.text}`);
    },
    close: async () => {
      signal.removeEventListener('abort', kill);
      kill();
      await closed;
    },
  };
}

/** A path that the tools' uid can read: the file itself, or a hard link (1 ms) or copy of it in a reachable folder. */
async function reachable(file: string, name: string, dir: string, who: { uid?: number }): Promise<string> {
  if (who.uid === undefined || (await isReadable(file))) return file;
  await mkdir(dir, { recursive: true, mode: 0o711 });
  const copy = join(dir, name);
  const exists = await lstat(copy).catch(() => undefined);
  if (exists?.isFile() && exists.uid === 0 && (await isReadable(copy))) return copy;
  const making = `${copy}.${process.pid}`;
  await link(file, making).catch(() => copyFile(file, making));
  await rename(making, copy);
  return copy;
}

/** Whether everyone may read a file and pass through its folders. */
async function isReadable(file: string): Promise<boolean> {
  if (((await stat(file)).mode & 0o004) === 0) return false;
  for (let at = dirname(file); ; at = dirname(at)) {
    if (((await stat(at)).mode & 0o001) === 0) return false;
    if (at === dirname(at)) break;
  }
  return access(file, constants.R_OK).then(
    () => true,
    () => false,
  );
}
