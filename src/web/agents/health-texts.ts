import type { AgentHealth } from '../api.ts';
import { plural } from '../display/formats.ts';

/** Says why an agent is not healthy. */
export function healthReason({ consecutiveFailures }: Pick<AgentHealth, 'consecutiveFailures'>): string {
  if (consecutiveFailures === 0) return 'The worker of a run of this agent does not respond.';
  return `This agent has had ${plural(consecutiveFailures, 'consecutive failure')}.`;
}

/** Says what the button does. */
export const resetText =
  'Reset health when the cause is fixed: failures are counted from zero, and other workers take over runs whose worker was lost. The figures below stay as they are.';
