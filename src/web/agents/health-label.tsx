import { Label } from '@primer/react';
import type { AgentHealth } from '../api.ts';
import { plural } from '../display/formats.ts';
import { sentenceCase } from '../display/names.ts';

const variants = { healthy: 'success', degraded: 'attention', unhealthy: 'danger' } as const;

export function HealthLabel({ health }: { health: AgentHealth | undefined }) {
  if (health === undefined) return null;
  const { status, consecutiveFailures } = health;
  return (
    <>
      <Label variant={variants[status]}>{sentenceCase(status)}</Label>
      {consecutiveFailures > 0 && <span className="muted">{plural(consecutiveFailures, 'consecutive failure')}</span>}
    </>
  );
}

/** Shows the tasks of an agent and how many of them succeeded. */
export function HealthFigures({ health }: { health: AgentHealth | undefined }) {
  if (health === undefined) return null;
  const { totalTasks } = health;
  const rate = healthRate(health);
  return (
    <span className="muted">
      {totalTasks === 0 ? 'No tasks yet' : plural(totalTasks, 'task')}
      {rate !== undefined && ` · ${rate} success rate`}
    </span>
  );
}

/** The service answers 0 while no task has ended, for example when the only one is in review. */
export function healthRate({ successRate, consecutiveFailures }: AgentHealth): string | undefined {
  return successRate > 0 || consecutiveFailures > 0 ? `${Math.round(successRate * 100)}%` : undefined;
}
