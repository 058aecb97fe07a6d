/** What the pages of a project show. `base` is their address: `/projects/<id>`. */
export interface Shown {
  base: string;
  agentId: string;
  sprintId: string;
  taskId: string;
  runId: string;
  sessionId: string;
  repositoryId: string;
}

/**
 * Returns the addresses of the pages, for the screenshots and for the tests that visit all pages. The tests add those that would
 * show little in a demo: automations, the spend of all projects, and the settings of mail.
 */
export const pagesOf = ({ base, agentId, sprintId, taskId, runId, sessionId, repositoryId }: Shown) => ({
  login: '/login',
  projects: '/projects',
  inbox: '/inbox',
  sessions: '/sessions',
  board: base,
  'new-task': `${base}?new=one`,
  backlog: `${base}/backlog`,
  task: `/tasks/${taskId}`,
  'task-runs': `/tasks/${taskId}?tab=runs`,
  run: `/tasks/${taskId}/runs/${runId}`,
  changes: `/tasks/${taskId}?tab=diff`,
  chat: `/tasks/${taskId}?tab=chat`,
  sprints: `${base}/sprints`,
  sprint: `/sprints/${sprintId}`,
  burndown: `/sprints/${sprintId}?tab=chart`,
  plan: `${base}/plan`,
  wizard: `${base}/plan/${sessionId}`,
  agents: `${base}/agents`,
  agent: `${base}/agents/${agentId}`,
  spend: `${base}/spend`,
  runs: `${base}/pool`,
  repositories: `${base}/repositories`,
  environment: `${base}/repositories/${repositoryId}`,
  proofs: `${base}/repositories/${repositoryId}/proofs`,
  benchmark: `${base}/repositories/${repositoryId}/benchmark`,
  portfolio: `${base}/repositories/${repositoryId}/portfolio`,
  members: `${base}/members`,
  settings: `${base}/settings`,
  audit: `${base}/settings/audit`,
  tokens: '/settings/tokens',
});
