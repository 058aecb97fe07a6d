/** What each action did, in the past tense, followed by the name of its object. */
export const actionPhrases: Record<string, string> = {
  'agent.cancel_trial': 'cancelled a trial of',
  'agent.create': 'created the agent',
  'agent.delete': 'deleted the agent',
  'agent.evolve': 'created a new version of',
  'agent.reset_health': 'reset the health of',
  'agent.try': 'started a trial of',
  'agent.update': 'edited the agent',
  'automation.create': 'created the automation',
  'automation.delete': 'deleted the automation',
  'automation.pause': 'switched off the automation',
  'automation.run': 'ran the automation',
  'automation.update': 'edited the automation',
  'issue.help': 'asked for help on',
  'issue.quote': 'asked for a price on',
  'issue.status': 'asked for the status on',
  'member.add': 'added the member',
  'member.remove': 'removed the member',
  'member.update': 'changed the role of',
  'project.create': 'created the project',
  'project.create_tasks': 'created several tasks in',
  'project.delete': 'deleted the project',
  'project.delete_view': 'deleted a view of',
  'project.remove_git_token': 'removed the git token of',
  'project.remove_model_token': 'removed the model token of',
  'project.save_view': 'saved a view of',
  'project.set_git_token': 'set the git token of',
  'project.set_mcp_servers': 'changed the MCP servers of',
  'project.set_model_token': 'set the model token of',
  'project.try_mcp_server': 'tried an MCP server for',
  'project.update': 'changed the settings of',
  'reconciliation.start': 'started a reconciliation of',
  'repository.connect': 'connected the repository',
  'repository.disconnect': 'disconnected the repository',
  'repository.fix': 'asked for a fix in',
  'repository.forget_example': 'restored a review comment of',
  'repository.harvest': 'collected benchmark items from',
  'repository.import_issues': 'imported issues of',
  'repository.prove': 'asked for a proof in',
  'repository.review': 'asked for a review in',
  'repository.switch_item': 'switched a benchmark item of',
  'repository.try_environment': 'tried the environment of',
  'repository.update': 'edited the repository',
  'repository.validate': 'checked the repository',
  'secret.remove': 'removed the secret',
  'secret.set': 'set the secret',
  'sprint.add_tasks': 'added tasks to',
  'sprint.cancel': 'cancelled the sprint',
  'sprint.chat': 'asked about the sprint',
  'sprint.complete': 'completed the sprint',
  'sprint.create': 'created the sprint',
  'sprint.delete': 'deleted the sprint',
  'sprint.plan': 'planned the sprint',
  'sprint.remove_task': 'removed a task from',
  'sprint.start': 'started the sprint',
  'sprint.update': 'edited the sprint',
  'task.add_subtask': 'added a subtask to',
  'task.answer': 'answered the question of',
  'task.approve': 'approved what waited in',
  'task.cancel': 'cancelled the run of',
  'task.chat': 'asked the agent about',
  'task.close': 'noted a closed pull request of',
  'task.create': 'created the task',
  'task.delete': 'deleted the task',
  'task.end_snooze': 'ended the snooze of',
  'task.fail': 'noted a failed run of',
  'task.finish': 'noted the end of',
  'task.harvest': 'collected benchmark items for',
  'task.issue_refused': 'could not open an issue for',
  'task.comment_refused': 'could not comment on the issue of',
  'task.join': 'noted that the subtasks are done of',
  'task.link_refused': 'could not link the issue of',
  'task.merge': 'merged the change of',
  'task.pause': 'paused the run of',
  'task.propose': 'proposed a change for',
  'task.prove': 'started a proof for',
  'task.remove_subtask': 'removed a subtask from',
  'task.reopen': 'reopened the task',
  'task.resume': 'resumed the run of',
  'task.retry': 'retried the task',
  'task.review': 'started a review for',
  'task.revise': 'requested changes of',
  'task.rewind': 'went back to an earlier turn of',
  'task.say': 'sent a message to the agent of',
  'task.snooze': 'snoozed',
  'task.split': 'began to wait for the subtasks of',
  'task.start': 'started the task',
  'task.stop_merging': 'called off the merge of',
  'task.to_backlog': 'moved to the backlog',
  'task.to_done': 'moved to done',
  'task.to_ready': 'moved to ready',
  'task.undo': 'started to undo',
  'task.update': 'edited the task',
  'token.create': 'created an API token',
  'token.revoke': 'revoked an API token',
  'user.confirm_notices': 'asked for a confirmation of the mail address of',
  'user.set_notices': 'changed the mail settings of',
  'webhook.create': 'created the webhook',
  'webhook.delete': 'deleted the webhook',
  'webhook.redeliver': 'sent a delivery again to the webhook',
  'webhook.switch_off': 'switched off the webhook',
  'webhook.test': 'tested the webhook',
  'webhook.update': 'edited the webhook',
  'wizard.answer': 'answered a question of the plan',
  'wizard.delete': 'deleted the plan',
  'wizard.edit': 'edited the plan',
  'wizard.finalize': 'created the sprint of the plan',
  'wizard.generate': 'generated a part of the plan',
  'wizard.plan': 'planned a sprint from',
  'wizard.start': 'started the plan',
};

/** The types of objects, as the filter lists them. Those that belong to no project are left out. */
export const typeNames: Record<string, string> = {
  task: 'Tasks',
  sprint: 'Sprints',
  wizard: 'Plans',
  automation: 'Automations',
  agent: 'Agents',
  repository: 'Repositories',
  member: 'Members',
  project: 'Project and settings',
  secret: 'Secrets',
  webhook: 'Webhooks',
  issue: 'Issues',
  reconciliation: 'Reconciliations',
};

/** What an approval did, by what the run waited for. */
const approvals: Record<string, string> = { plan: 'approved the plan of', push: 'approved the change of' };

/** Returns what an action did. One that a newer version of the service has recorded is shown as it is. */
export function actionPhrase(action: string, { attention = [] }: Record<string, unknown[]>): string {
  const approval = action === 'task.approve' ? approvals[String(attention[0])] : undefined;
  return approval ?? actionPhrases[action] ?? action;
}

/** Words that differ from the names of their fields. */
const fields: Record<string, string> = {
  attention: 'waits for',
  base: 'base branch',
  costUsd: 'cost (USD)',
  changedPlan: 'changed plan',
  dependsOn: 'depends on',
  git_token: 'Git token',
  id: 'version',
  model_token: 'model token',
  owner: 'agent',
  prd: 'requirements',
  sprintId: 'sprint',
  startDay: 'start',
  endDay: 'end',
  repositoryId: 'repository',
  url: 'URL',
};

const stepId = /^step_[0-9a-z]{26}$/;

/** Returns the name of a field in words: `reasoning effort` for `reasoningEffort`. */
export function fieldName(field: string): string {
  if (stepId.test(field)) return 'answer';
  const known = fields[field];
  // The name of a view follows its first word as somebody wrote it.
  if (known !== undefined || field.startsWith('view ')) return known ?? field;
  return field
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
}
