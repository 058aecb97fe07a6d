import type { Agent, AgentHealth, AgentPerformance } from '../api.ts';
import { plural } from '../display/formats.ts';
import { sentenceCase } from '../display/names.ts';

/** The list of agents shows what they have cost in this time. */
export const costDays = 90;

/** Says why an agent is not healthy. */
export function healthReason({ consecutiveFailures }: Pick<AgentHealth, 'consecutiveFailures'>): string {
  if (consecutiveFailures === 0) return 'The worker of a run of this agent does not respond.';
  return `This agent has had ${plural(consecutiveFailures, 'consecutive failure')}.`;
}

/** Says what the button that resets the health of an agent does, to people who have it. */
export const resetText =
  'Reset health when the cause is fixed: failures are counted from zero, and other workers take over runs whose worker was lost. The figures below stay as they are.';

type Figures = Pick<AgentPerformance['metrics'], 'completedTasks' | 'averageCompletionTime'>;

/**
 * Says how long a task takes on average from its start until it is done, waiting for people included. The service says `1h 4m`,
 * and `0h 0m` before the first task.
 */
export function completionText({ completedTasks, averageCompletionTime }: Figures): string {
  if (completedTasks === 0) return '–';
  const [hours, minutes] = averageCompletionTime.split(' ').map((part) => Number.parseInt(part, 10));
  if (hours) return `${hours} h ${minutes} min`;
  return minutes ? `${minutes} min` : 'under 1 min';
}

type Ended = Pick<AgentPerformance['metrics'], 'completedTasks' | 'failedTasks' | 'successRate'>;

/** Returns the share of tasks that succeeded, or undefined while none has ended. */
export function rateText({ completedTasks, failedTasks, successRate }: Ended): string | undefined {
  return completedTasks + failedTasks === 0 ? undefined : `${Math.round(successRate * 100)}%`;
}

/** Returns the same for a column of figures, with a dash while no task has ended. */
export function successText(metrics: Ended): string {
  return rateText(metrics) ?? '–';
}

/** Names how long the model of an agent reasons. */
export function effortName(effort: Agent['reasoningEffort']): string {
  if (effort === null) return "Model server's default";
  return effort === 'xhigh' ? 'Extra high' : sentenceCase(effort);
}
