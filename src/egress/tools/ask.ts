import { execFile } from 'node:child_process';

/** How long a tool may take to print its configuration, and how much it may print. */
const [maxMs, maxBytes] = [15_000, 1_000_000];

/** Runs a tool and returns what it prints; an empty text when it is not installed, fails or takes too long. */
export type Ask = (tool: string, args: string[], without?: RegExp) => Promise<string>;

/**
 * Returns a function that runs tools of this machine. They run in the root folder, so that they read the machine's
 * configuration and no project's.
 */
export function ask(environment: Record<string, string>): Ask {
  return (tool, args, without = /$^/) => {
    const env = Object.fromEntries(Object.entries(environment).filter(([name]) => !without.test(name)));
    // Otherwise yarn could be a stand-in that first downloads yarn.
    const options = { env: { ...env, COREPACK_ENABLE_NETWORK: '0' }, cwd: '/', timeout: maxMs, maxBuffer: maxBytes };
    return new Promise((resolve) => {
      const child = execFile(tool, args, { ...options, killSignal: 'SIGKILL' }, (error, printed) =>
        resolve(error === null ? printed : ''),
      );
      child.stdin?.on('error', () => {}).end();
    });
  };
}
