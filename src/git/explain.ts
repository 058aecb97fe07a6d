import { GitFailed, type GitFault } from './engine.ts';

/** What git itself says; what the remote says in its own words (`remote: …`) decides nothing. */
const faults: [RegExp, GitFault][] = [
  [/couldn't find remote ref/, 'missing'],
  // The host accepted the push and failed at it.
  [/\[remote rejected\].*\((internal server error|unpacker error)/i, 'unreachable'],
  [/\[(remote )?rejected\]|non-fast-forward|fetch first|hook declined/i, 'rejected'],
  [/Authentication failed|could not read (Username|Password)|Permission to .* denied/i, 'auth'],
  [/repository .* not found|does not exist/i, 'missing'],
  [
    /Could not resolve|Failed to connect|Connection (refused|reset|timed out)|early EOF|unexpected disconnect|timed out|unable to access|Operation too slow|RPC failed|hung up/i,
    'unreachable',
  ],
];

/** Why git ended with that code. Where the remote's HTTP answer says it, that counts. */
export function explain(err: string, code: number | null, answered: GitFailed | undefined): GitFailed {
  const said = lines(err).filter((line) => !line.startsWith('hint:'));
  const [theirs, own] = [said.filter((l) => l.startsWith('remote:')), said.filter((l) => !l.startsWith('remote:'))];
  if (answered !== undefined) {
    const words = theirs.slice(-3).join(' ');
    return new GitFailed(answered.fault, [answered.message, words].filter(Boolean).join('; '), answered.retryAfterMs);
  }
  // The process that writes it was ended at a limit (see `Room`) and could not say so.
  if (/File too large|^fatal: fetch-pack: invalid index-pack output$/.test(own.join('\n')))
    return new GitFailed('broken', 'git: what the remote sends takes more than 10 GB, or half of the room on the disk');
  const fault = faults.find(([pattern]) => pattern.test(own.join('\n')))?.[1] ?? 'broken';
  return new GitFailed(fault, `git: ${said.slice(-4).join(' ') || `ended with ${code}`}`);
}

export function lines(text: string): string[] {
  return text.split('\n').filter((l) => l.trim() !== '');
}
