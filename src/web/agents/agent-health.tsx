import { Label } from '@primer/react';
import type { AgentHealth } from '../api.ts';
import { counted } from '../display/plural.ts';

const variants = { healthy: 'success', degraded: 'attention', unhealthy: 'danger' } as const;

export function Health({ health }: { health: AgentHealth | undefined }) {
  if (health === undefined) return null;
  const { status, consecutiveFailures, totalTasks, successRate } = health;
  return (
    <>
      <Label variant={variants[status]}>{status}</Label>
      <span className="muted">
        {totalTasks === 0 ? 'no tasks yet' : `${Math.round(successRate * 100)} % of ${counted(totalTasks, 'task')}`}
        {consecutiveFailures > 0 && `, ${consecutiveFailures} failures in a row`}
      </span>
    </>
  );
}
