/** Why a task needs a person. */
export const inboxReasons = ['plan', 'question', 'push', 'paused', 'review', 'failed'] as const;
export type InboxReason = (typeof inboxReasons)[number];

/** What else the inbox of a project's admins says. It is about no task. */
export const adminNoticeReasons = ['automation', 'webhook'] as const;
export type AdminNoticeReason = (typeof adminNoticeReasons)[number];

/** What browsers, mail and Slack call it. */
export const inboxNames: Record<InboxReason | AdminNoticeReason, string> = {
  plan: 'Plan to approve',
  question: 'Question',
  push: 'Change to approve',
  paused: 'Paused',
  review: 'Review',
  failed: 'Failed',
  automation: 'Automation off',
  webhook: 'Webhook off',
};

/** What the inbox says about a task, or about something else of a project. */
interface Entry {
  reason: InboxReason | AdminNoticeReason;
  taskId: string | null;
  projectId: string;
  title: string;
}

/** Returns the sentence about an entry of the inbox. It is the same in browsers, mail and Slack. */
export function inboxSentence({ reason, title }: Pick<Entry, 'reason' | 'title'>): string {
  return `${inboxNames[reason]}: ${title}`;
}

/** Returns the path of the page on which a person decides about an entry. */
export function decisionPath({ reason, taskId, projectId }: Omit<Entry, 'title'>): string {
  const project = `/projects/${encodeURIComponent(projectId)}`;
  if (taskId === null) return `${project}/${reason === 'automation' ? 'automations' : 'settings'}`;
  const page = `/tasks/${encodeURIComponent(taskId)}`;
  return reason === 'review' || reason === 'push' ? `${page}?tab=diff` : page;
}
