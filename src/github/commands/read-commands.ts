import type { Command, Marks } from '../../domain/text/commands.ts';
import { apart } from '../../threads/apart.ts';

/** GitHub's limit for comments and the bodies of issues, in characters. */
const maxChars = 65_536;

const parser = apart<typeof import('../../domain/text/commands.ts')>(
  new URL('../../domain/text/commands.ts', import.meta.url),
  { seconds: 2, heapMb: 256 },
);

/**
 * The commands of a comment; undefined when its Markdown cannot be parsed within two seconds (64 kB of `1. ` take the
 * parser minutes). Call it only for people who may give commands, so that nobody else can keep the threads busy.
 */
export async function readCommands(body: string, marks: Marks): Promise<Command[] | undefined> {
  if (body.length > maxChars) return undefined;
  // Markdown that is nested too deeply makes the parser throw.
  return parser.call('parseCommands', body, marks).catch(() => undefined);
}
