import type { AgentPerformance } from '../api.ts';

type Figures = Pick<AgentPerformance['metrics'], 'completedTasks' | 'averageCompletionTime'>;

/** Says how long the tasks of an agent take on average. The service counts whole minutes, and zero before the first task. */
export function completionText({ completedTasks, averageCompletionTime }: Figures): string {
  if (completedTasks === 0) return '–';
  return averageCompletionTime === '0h 0m' ? 'under 1 min' : averageCompletionTime;
}
