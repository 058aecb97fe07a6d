import { trimEndOf } from './sanitize.ts';

/** What GitHub says of settings that only people there can change, and what they should do. */
const advice: [RegExp, string][] = [
  [
    /\bIP allow list\b/i,
    'an owner of the organization can add the public address of this service, or of its proxy, to the IP allow list, or allow access by installed GitHub Apps there',
  ],
  [
    /\bResource not accessible by integration\b/i,
    'the App lacks a permission; an owner of the account can accept its permissions on GitHub, in the settings of the installation',
  ],
  [
    /\bResource not accessible by personal access token\b/i,
    'the git token of the project lacks a permission; give it read and write access to contents, pull requests and issues',
  ],
  [
    /\bSAML (?:SSO|enforcement)\b/i,
    'the organization requires single sign-on; authorize the git token of the project for it on GitHub',
  ],
];

/** Returns what GitHub said, followed by what to do about it if only people on GitHub can. */
export function withAdvice(said: string): string {
  const found = advice.find(([pattern]) => pattern.test(said))?.[1];
  return found === undefined ? said : `${trimEndOf(said.trimEnd(), '. ')}; ${found}`;
}
