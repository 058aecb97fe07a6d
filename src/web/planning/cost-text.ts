import type { Agent, Spend } from '../api.ts';
import { formatCost, plural } from '../display/formats.ts';
import { tokensOf } from '../spend/spend-text.ts';

/** The agent of a project whose model plans. */
export const plannerName = 'Software Architect';

/** A step of a plan that uses the model: its questions, or one of the parts that follow. */
export type PlanStep = 'questions' | 'part';

/**
 * Says which model a step of a plan uses, and what is known about its price: what the planning agent has cost lately, and what
 * is spent of the day's budget. What could not be read is left out.
 */
export function costText(
  step: PlanStep,
  agent: Pick<Agent, 'id' | 'model'> | undefined,
  spend: Spend | undefined,
): string {
  const model = agent === undefined || agent.model === '' ? 'the default model' : `the model ${agent.model}`;
  const used = spend?.agents.find(({ agentId }) => agentId !== null && agentId === agent?.id);
  return [
    `${step === 'questions' ? 'Each question calls' : 'This step calls'} ${model}, which costs money.`,
    'The price depends on how much the model reads and writes.',
    ...(spend === undefined || agent === undefined ? [] : [pastText(spend, used)]),
    ...(spend === undefined ? [] : [budgetText(spend)]),
  ].join(' ');
}

function pastText({ days }: Spend, used: Spend['agents'][number] | undefined): string {
  const period = `In the last ${plural(days.length, 'day')}`;
  if (used === undefined) return `${period}, the ${plannerName} has cost nothing in this project.`;
  if (used.costUsd === 0 && tokensOf(used) > 0)
    return 'The price of its model is not configured, so the cost is not counted.';
  return `${period}, plans and all other work of the ${plannerName} cost ${formatCost(used.costUsd)}.`;
}

const budgetText = ({ days, budget }: Spend) =>
  `Today, ${formatCost(days.at(-1)?.costUsd ?? 0)} of the budget of ${formatCost(budget.dayCostUsd)} is spent.`;
