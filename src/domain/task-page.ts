/** Where people see a task: its page on the dashboard. `baseUrl` has no slash at its end. */
export function taskPage(baseUrl: string, taskId: string): string {
  return `${baseUrl}/tasks/${taskId}`;
}
