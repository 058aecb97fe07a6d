/** Returns the path of a run's page. */
export const runPath = (taskId: string, runId: string): string =>
  `/tasks/${encodeURIComponent(taskId)}/runs/${encodeURIComponent(runId)}`;
