import { GitFailed, type GitFault } from '../engine.ts';

/** Matched against git's own messages only, never against the remote's (`remote: …`). */
const faults: [RegExp, GitFault][] = [
  [/couldn't find remote ref/, 'missing'],
  // The host accepted the push but failed to process it.
  [/\[remote rejected\].*\((internal server error|unpacker error)/i, 'unreachable'],
  [/\[(remote )?rejected\]|non-fast-forward|fetch first|hook declined/i, 'rejected'],
  [/Authentication failed|could not read (Username|Password)|Permission to .* denied/i, 'auth'],
  [/repository .* not found|does not exist/i, 'missing'],
  // The last phrase is all that git says of a list of branches that ends early. A refusal has an HTTP status, which
  // counts more.
  [
    /Could not resolve|Failed to connect|Connection (refused|reset|timed out)|early EOF|unexpected disconnect|timed out|unable to access|Operation too slow|RPC failed|hung up|Could not read from remote repository/i,
    'unreachable',
  ],
  // The pack ended early. Git says no more when the process that received it ended first.
  [/^fatal: fetch-pack: invalid index-pack output$/, 'unreachable'],
];

/** The repository does not fit into the limits of `Room`. */
export function tooLarge(): GitFailed {
  return new GitFailed('broken', 'git: the repository needs more than 10 GB or more than half of the free disk space');
}

/** Returns why git failed. The HTTP response of the remote takes precedence over git's messages. */
export function explain(err: string, code: number | null, answered: GitFailed | undefined): GitFailed {
  const said = lines(err).filter((line) => !line.startsWith('hint:'));
  const [theirs, own] = [said.filter((l) => l.startsWith('remote:')), said.filter((l) => !l.startsWith('remote:'))];
  if (answered !== undefined) {
    const words = theirs.slice(-3).join(' ');
    return new GitFailed(answered.fault, [answered.message, words].filter(Boolean).join('; '), answered.retryAfterMs);
  }
  if (/File too large/.test(own.join('\n'))) return tooLarge();
  const fault = faults.find(([pattern]) => pattern.test(own.join('\n')))?.[1] ?? 'broken';
  return new GitFailed(fault, `git: ${said.slice(-4).join(' ') || `it ended with exit code ${code} and no message`}`);
}

export function lines(text: string): string[] {
  return text.split('\n').filter((l) => l.trim() !== '');
}
