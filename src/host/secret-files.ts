import { readFileSync } from 'node:fs';

type Environment = Record<string, string | undefined>;

/**
 * Replaces each setting `NAME_FILE` by the setting `NAME` with the contents of that file, without one line ending at
 * its end. So secrets that Docker or Kubernetes mount as files need not be in the environment, which child processes
 * and `docker inspect` show.
 *
 * @param names the settings that are secrets
 * @returns the settings, and one line per problem. No line contains a secret
 */
export function withSecretFiles(env: Environment, names: readonly string[]): { env: Environment; problems: string[] } {
  const problems: string[] = [];
  const read: Environment = {};
  for (const name of names) {
    const [setting, path] = [`${name}_FILE`, env[`${name}_FILE`]];
    if (path === undefined) continue;
    if (env[name] !== undefined) problems.push(`${setting}: ${name} is set too; set only one of them`);
    else {
      const found = contentsOf(path);
      if ('text' in found) read[name] = found.text;
      else problems.push(`${setting}: ${found.problem}`);
    }
  }
  return { env: { ...env, ...read }, problems };
}

function contentsOf(path: string): { text: string } | { problem: string } {
  try {
    const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    return text === '' ? { problem: `the file ${path} is empty` } : { text };
  } catch (error) {
    const { code = 'unknown error' } = error as { code?: string };
    return { problem: `the file ${path} cannot be read (${code}); check its path and its permissions` };
  }
}
