import type { App } from '../../app.ts';
import { readBudget } from '../../domain/budget.ts';
import { Refused } from '../../domain/machine.ts';
import { updateTask } from '../../tasks/update.ts';
import { type GivenCommand, requiredTask } from './given-command.ts';

/** Changes the named limits of a task's budget and keeps its others. `none` removes the budget. */
export async function setBudget(app: App, given: GivenCommand): Promise<void> {
  const taskId = await requiredTask(app, given);
  const { argument } = given.command;
  const isNone = argument.toLowerCase() === 'none';
  const change = readBudget(argument);
  if (change === undefined && !isNone)
    throw new Refused(
      'Write the limit of each run after `budget`: `$8`, `steps 200`, `minutes 30` or `tokens 500000`; or `none`.',
    );
  await updateTask(app, taskId, given.userId, ({ budget }) => ({ budget: isNone ? null : { ...budget, ...change } }));
}
