import type { Command } from 'commander';
import { type Context, sessionOf, withExamples } from '../context.ts';
import { CommandFailed } from '../failures.ts';
import { findTask } from '../ids.ts';
import { isUnknownAddress } from '../session.ts';
import { shownLine } from '../terminal.ts';

/** What a task will probably take. */
interface Quote {
  costUsd: Range | null;
  minutes: Range | null;
  mergedUnchanged: { of: number; n: number } | null;
  similar: string[];
  reason: string | null;
}

interface Range {
  p50: number;
  p80: number;
}

export function quoteCommand(program: Command, context: Context): void {
  const quote = program
    .command('quote')
    .description('Say what a task will probably cost, and how long it will take')
    .argument('<task>', 'its id, or a unique end of it')
    .action(async (wanted: string, _options, command: Command) => {
      const session = await sessionOf(context, command);
      const task = await findTask(session, wanted);
      const found = await fetchQuote(`${session.at.baseUrl}/tasks/${encodeURIComponent(task.id)}/quote`, session.at);
      context.terminal.print(found, () => quoteText(found));
    });
  withExamples(quote, 'deckhand quote 084sn02q');
}

/** The generated client has no function for this route until the service has the route. */
async function fetchQuote(url: string, at: Parameters<typeof findTask>[0]['at']): Promise<Quote> {
  try {
    const reply = await at.fetch(url, { headers: { ...at.headers, Accept: 'application/json' } });
    return (await reply.json()) as Quote;
  } catch (error) {
    if (isUnknownAddress(error))
      throw new CommandFailed('This service gives no quotes; a newer version of Deckhand does.');
    throw error;
  }
}

function quoteText({ costUsd, minutes, mergedUnchanged, similar = [], reason }: Quote): string {
  if (costUsd == null && minutes == null)
    return `No quote: ${shownLine(reason ?? 'too few similar tasks are finished', 300)}`;
  const share = ({ p50, p80 }: Range, unit: (n: number) => string) =>
    `half of such tasks at most ${unit(p50)}, four of five at most ${unit(p80)}`;
  return [
    ...(costUsd == null ? [] : [`Cost: ${share(costUsd, (n) => `$${n.toFixed(2)}`)}`]),
    ...(minutes == null ? [] : [`Time: ${share(minutes, (n) => `${Math.ceil(n)} min`)}`]),
    ...(mergedUnchanged == null ? [] : [`Merged unchanged: ${mergedUnchanged.n} of ${mergedUnchanged.of}`]),
    ...(similar.length === 0 ? [] : [`From ${similar.length} similar tasks`]),
  ].join('\n');
}
