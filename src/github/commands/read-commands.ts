import type { Command, Marks } from '../../domain/text/commands.ts';
import { apart } from '../../threads/apart.ts';

/** GitHub's limit for comments and the bodies of issues, in characters. */
const maxChars = 65_536;

const parser = apart<typeof import('../../domain/text/commands.ts')>(
  new URL('../../domain/text/commands.ts', import.meta.url),
  { seconds: 2, heapMb: 256 },
);

/**
 * Parses the commands of a comment. Returns undefined when its Markdown cannot be parsed within two seconds: for 64 kB
 * of `1. ` the parser takes minutes. Call it only for people who are allowed to give commands, so that nobody else can
 * keep the threads busy.
 */
export async function readCommands(body: string, marks: Marks): Promise<Command[] | undefined> {
  if (body.length > maxChars) return undefined;
  // The parser throws on Markdown that is nested too deeply.
  return parser.call('parseCommands', body, marks).catch(() => undefined);
}
