import { z } from 'zod';
import { trimEndOf } from '../../domain/text/sanitize.ts';
import { findByName, type Given, hidden, words } from '../../llm/calls/declaration.ts';
import { readObject } from '../../llm/calls/fit-arguments.ts';
import type { Message } from '../../llm/model.ts';
import { readTools } from '../../repositories/read-tools.ts';
import type { ToolHost } from '../../sandbox/sandbox.ts';
import { tool } from './tool.ts';

const maxSeconds = 600;
const command = z.string().min(1);
const processName = z.string().trim().min(1).max(50);
const nameNames = words('id process process_id process_name session_id shell_id bash_id task_id');
const commandNames = words('cmd script bash_command command_line shell_command commands');

/** The tools that run commands. They exist only with a working sandbox. */
export const commandTools = {
  run_command: tool({
    description:
      'Run a command in bash at the root of the workspace and wait for it; at most timeoutSeconds (120 if not given, 600 at most). The result begins with the exit code and the duration. Use it to build, test and inspect; to read, search and change files use the other tools. Every command has a new shell: combine "cd x && y" in one. What it starts in the background ends with it. localhost is shared with the processes of start_process; other hosts can be reached only if the repository allows them.',
    arguments: z.strictObject({
      command,
      timeoutSeconds: z.int().min(1).max(maxSeconds).optional(),
      background: z.boolean().optional().meta(hidden),
    }),
    names: words(
      'bash shell sh exec execute execute_command run_shell_command terminal run_terminal_cmd run command execute_bash local_shell exec_command run_in_terminal run_shell shell_command cmd',
    ),
    argumentNames: {
      command: commandNames,
      timeoutSeconds: ['timeout_secs', 'seconds', 'max_seconds'],
      background: ['run_in_background', 'is_background'],
    },
    translate: translateCommand,
    changes: true,
    offer: 'with shell',
    redirect: ({ command: given, background }) => {
      const patch = patchIn(given);
      if (patch !== undefined) return { name: 'apply_patch', args: { patch } };
      if (background !== true) return undefined;
      const name = /[\w.-]{1,40}/.exec(given)?.[0] ?? 'background';
      return { name: 'start_process', args: { command: given, name } };
    },
  }),
  start_process: tool({
    description:
      'Start a command that keeps running while you go on, such as a watcher or a long build, under a name of your choice. At most 8 run at the same time. read_output shows its output, stop_process ends it; all end when you call finish. To try out a server, start it here and use it from run_command on localhost.',
    arguments: z.strictObject({ command, name: processName }),
    names: words('start_background run_background start_server run_in_background background_command'),
    argumentNames: { command: commandNames, name: nameNames },
    changes: true,
    offer: 'with shell',
    about: ({ name, command: given }) => `${name}: ${given}`,
  }),
  read_output: tool({
    description:
      'Show how a process of start_process is doing: whether it runs, and the start and the end of its output.',
    arguments: z.strictObject({ name: processName }),
    names: words('bash_output get_output process_output read_process_output get_process_output task_output'),
    argumentNames: { name: nameNames },
    // The process may have changed files in the meantime.
    changes: true,
    offer: 'with shell',
  }),
  stop_process: tool({
    description: 'End a process of start_process, with everything it started, and show its output.',
    arguments: z.strictObject({ name: processName }),
    names: words('kill_process kill_shell kill_bash terminate_process end_process'),
    argumentNames: { name: nameNames },
    changes: true,
    offer: 'with shell',
  }),
};

/** Understands a command given as a list, a working folder, and a time in milliseconds. */
function translateCommand(given: Given): Given {
  const {
    timeout,
    timeout_ms: ms,
    workdir,
    cwd = workdir,
    working_directory: folder = cwd,
    restart: _,
    login: __,
    ...rest
  } = given;
  const key = ['command', ...commandNames].find((name) => rest[name] !== undefined);
  const stated = key === undefined ? undefined : rest[key];
  if (key !== undefined && Array.isArray(stated) && stated.every((part) => typeof part === 'string'))
    rest[key] = commandOf(stated as string[]);
  if (key !== undefined && typeof rest[key] === 'string' && typeof folder === 'string')
    rest[key] = within(folder, rest[key]);
  const seconds = secondsOf(timeout, ms) ?? rest.timeoutSeconds;
  // A model that asks for more than the maximum expects a slow command, so it gets the maximum.
  const bounded = Number(seconds) > maxSeconds ? maxSeconds : seconds;
  return bounded === undefined || bounded === null ? rest : { ...rest, timeoutSeconds: bounded };
}

/** Returns the seconds. A `timeout` of 3600 or more can only be in milliseconds. */
function secondsOf(timeout: unknown, ms: unknown): number | undefined {
  const given = Number(ms ?? timeout);
  if ((ms ?? timeout) === undefined || (ms ?? timeout) === null || !(given > 0)) return undefined;
  return Math.max(1, Math.ceil(ms !== undefined || given >= 3600 ? given / 1000 : given));
}

/** `["bash", "-lc", "make test"]` is a script, any other list one command with its arguments. */
function commandOf(parts: string[]): string {
  const [shell = '', flag = '', script] = parts;
  if (
    /^(?:\/(?:usr\/)?bin\/)?(?:ba|z|da)?sh$/.test(shell) &&
    /^-[a-z]*c$/.test(flag) &&
    script !== undefined &&
    parts.length === 3
  )
    return script;
  if (parts.length === 1) return shell;
  return parts.map(quoted).join(' ');
}

const quoted = (part: string) => (/^[\w./:=@%+,-]+$/.test(part) ? part : `'${part.replaceAll("'", "'\\''")}'`);

function within(folder: string, script: string): string {
  const relative = trimEndOf(folder.replace(/^\/work\/?/, ''), '/');
  return relative === '' || relative === '.' ? script : `cd -- ${quoted(relative)} || exit\n${script}`;
}

/** Returns the patch of a command that only calls `apply_patch`, which some models know as a program. */
function patchIn(script: string): string | undefined {
  const text = script.trim();
  const [, mark, body] = /^apply_patch\s*<<-?\s*['"]?(\w+)['"]?\n(.*)$/s.exec(text) ?? [];
  if (mark !== undefined && body !== undefined)
    return body.trimEnd().endsWith(`\n${mark}`) ? body.trimEnd().slice(0, -mark.length) : undefined;
  const [, quote, inner] = /^apply_patch\s+(['"])(\*\*\* Begin Patch\n.*\*\*\* End Patch)\s*\1$/s.exec(text) ?? [];
  // Within double quotes the shell would have changed the text.
  return quote === '"' && /[$`\\]/.test(inner ?? '') ? undefined : inner?.replaceAll("'\\''", "'");
}

/**
 * Wraps the tools of a worker that continues a conversation. Background processes ended with the earlier worker, and the
 * first result of a tool that is not only reading says so. It is part of the result, so it is stored with the turn.
 */
export function tellingOfLostProcesses(host: ToolHost, messages: Message[]): ToolHost {
  let lost = startedProcesses(messages);
  if (lost.length === 0) return host;
  return {
    ...host,
    call: async (tool, args) => {
      const answer = await host.call(tool, args);
      if (lost.length === 0 || Object.hasOwn(readTools, tool)) return answer;
      const notice = `[another worker continues this run, so these processes have ended: ${lost.join(', ')}; start them again if you need them]`;
      lost = [];
      return { ...answer, text: `${notice}\n${answer.text}` };
    },
  };
}

const endedOpening = 'All processes ended before your change was read: ';

/** Tells the agent which of its processes a judgement ended. It is stored with the objection. */
export function endedNotice(names: string[]): string {
  return `${endedOpening}${names.join(', ')}. Start them again if you need them.`;
}

/** Returns the names of the processes that a conversation started, and that nothing has ended since. */
function startedProcesses(messages: Message[]): string[] {
  const ended = messages.findLastIndex((m) => m.role === 'user' && m.content.includes(endedOpening));
  const calls = messages.slice(ended + 1).flatMap((m) => (m.role === 'assistant' ? m.toolCalls : []));
  const started = new Set<string>();
  for (const { name, arguments: text } of calls) {
    const tool = findByName(commandTools, name);
    if (tool !== 'start_process' && tool !== 'stop_process') continue;
    const read = readObject(text, {});
    const process = read.ok && typeof read.value.name === 'string' ? read.value.name.trim() : 'a process';
    if (tool === 'start_process') started.add(process);
    else started.delete(process);
  }
  return [...started];
}
