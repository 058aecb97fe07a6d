import type { Command } from 'commander';
import { getQuote, type Quote } from '../../api.ts';
import { type Context, sessionOf, withExamples } from '../context.ts';
import { findTask } from '../ids.ts';
import { shownLine } from '../terminal.ts';

type Range = NonNullable<Quote['minutes']>;

export function quoteCommand(program: Command, context: Context): void {
  const quote = program
    .command('quote')
    .description('Say what a task will probably cost, and how long it will take')
    .argument('<task>', 'its id, or a unique end of it')
    .action(async (wanted: string, _options, command: Command) => {
      const session = await sessionOf(context, command);
      const task = await findTask(session, wanted);
      const found = await getQuote(task.id, session.at);
      context.terminal.print(found, () => quoteText(found));
    });
  withExamples(quote, 'deckhand quote 084sn02q');
}

function quoteText({ costUsd, minutes, mergedUnchanged, similar, reason }: Quote): string {
  if (costUsd === null && minutes === null)
    return `No quote: ${shownLine(reason ?? 'too few similar tasks are finished', 300)}`;
  const share = ({ p50, p80 }: Range, unit: (n: number) => string) =>
    `half of such tasks at most ${unit(p50)}, four of five at most ${unit(p80)}`;
  return [
    ...(costUsd === null ? [] : [`Cost: ${share(costUsd, (n) => `$${n.toFixed(2)}`)}`]),
    ...(minutes === null ? [] : [`Time: ${share(minutes, (n) => `${Math.ceil(n)} min`)}`]),
    ...(mergedUnchanged === null ? [] : [`Merged unchanged: ${mergedUnchanged.n} of ${mergedUnchanged.of}`]),
    ...(similar.length === 0 ? [] : [`From ${similar.length} similar tasks`]),
  ].join('\n');
}
