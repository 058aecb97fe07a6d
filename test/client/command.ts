import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const bin = resolve(import.meta.dirname, '../../client/bin/deckhand.js');

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface Given {
  stdin?: string;
  env?: Record<string, string>;
  cwd?: string;
}

/** The command line of one person, with a folder for its settings and a home of its own. */
export interface Person {
  home: string;
  /** Starts `deckhand` with these arguments. */
  begin(args: string[], given?: Given): Running;
  /** Runs `deckhand` to its end. */
  run(args: string[], given?: Given): Promise<Ended>;
  /** Runs `deckhand … --json`, and returns what it printed. It has to succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it expects
  json(...args: string[]): Promise<any>;
}

export interface Running {
  stdout(): string;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<Ended>;
}

/** Call it once in a test file. Returns a function that makes a person who has these variables in the environment. */
export function openPersons(): (variables?: Record<string, string>) => Person {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-persons-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return (variables = {}) => personIn(mkdtempSync(join(folder, 'person-')), variables);
}

function personIn(home: string, variables: Record<string, string>): Person {
  const begin: Person['begin'] = (args, { stdin, env, cwd = home } = {}) => {
    const compiled = { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' };
    return beginProcess(process.execPath, [bin, ...args], stdin, {
      cwd,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: home,
        XDG_CONFIG_HOME: join(home, 'config'),
        ...compiled,
        ...variables,
        ...env,
      },
    });
  };
  const run: Person['run'] = (args, given) => begin(args, given).ended;
  return {
    home,
    begin,
    run,
    json: async (...args) => {
      const { code, stdout, stderr } = await run([...args, '--json']);
      if (code !== 0) throw new Error(`deckhand ${args.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
  };
}

export function beginProcess(
  program: string,
  args: string[],
  stdin: string | undefined,
  options: { cwd: string; env: Record<string, string> },
): Running {
  const child = spawn(program, args, options);
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
    });
  child.stdin.on('error', () => {});
  child.stdin.end(stdin ?? '');
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...text }));
  });
  return { stdout: () => text.stdout, kill: (signal) => child.kill(signal), ended };
}
