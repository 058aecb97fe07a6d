/** Returns the address of a task's page on the dashboard. `baseUrl` does not end with a slash. */
export function taskPage(baseUrl: string, taskId: string): string {
  return `${baseUrl}/tasks/${taskId}`;
}
