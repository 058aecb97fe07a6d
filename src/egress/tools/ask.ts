import { execFile } from 'node:child_process';

/** How long a tool may take to print its configuration, and how much it may print. */
const [maxMs, maxBytes] = [15_000, 1_000_000];

/** Runs a tool and returns what it prints; an empty text when it is not installed, fails or takes too long. */
export type Ask = (tool: string, args: string[], without?: RegExp) => Promise<string>;

/**
 * Returns a function that runs tools of this machine. They run in the root folder and with the machine's programs, so that
 * they read the machine's configuration and no project's.
 */
export function ask({ PATH = '', ...others }: Record<string, string>): Ask {
  const environment = { ...others, PATH: machineFirst(PATH) };
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

/**
 * Moves the folders of programs that packages brought to the end of a search path. Deckhand runs on a Node from there, and
 * npm looks for its global configuration beside the Node that runs it.
 */
function machineFirst(path: string): string {
  const isOfPackages = (folder: string) => /\/node_modules(\/|$)/.test(folder);
  const folders = path.split(':');
  return [...folders.filter((folder) => !isOfPackages(folder)), ...folders.filter(isOfPackages)].join(':');
}
