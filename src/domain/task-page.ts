/** Returns the address of a task's page on the dashboard. `baseUrl` does not end with a slash. */
export function taskPage(baseUrl: string, taskId: string): string {
  return `${baseUrl}/tasks/${taskId}`;
}

/** Returns the address of the page of one of a task's runs. */
export function runPage(baseUrl: string, taskId: string, runId: string): string {
  return `${taskPage(baseUrl, taskId)}/runs/${runId}`;
}

/** Returns the address of the page that shows the environment of a repository and its last trial. */
export function environmentPage(baseUrl: string, repository: { id: string; projectId: string }): string {
  return `${baseUrl}/projects/${repository.projectId}/repositories/${repository.id}`;
}
