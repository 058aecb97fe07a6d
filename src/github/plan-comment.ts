import { closedBlocks, harmless, harmlessLine } from '../domain/quoted.ts';
import type { Session } from '../planning/store.ts';

/** The first line of the comment in which a plan is made; by it and its author the comment is found again. */
export const planMarker = '<!-- deckhand:plan -->';

const maxComment = 60_000;

/** What the one comment of a planning session says: what is asked, what was answered, the plan, what became of it. */
export function planComment(session: Session, prefix: string, agents: Map<string, string>, notice = ''): string {
  const line = (text: string, max = 300) => harmlessLine(text, max, prefix);
  const open = session.steps.find((step) => step.answer === null);
  const lines = [planMarker, `### 🧭 Plan: ${line(session.goal, 120)}`, ''];
  if (notice !== '') lines.push(`> ${line(notice, 1000)}`, '');
  if (open !== undefined) {
    lines.push(`**${line(open.question)}**`, '');
    for (const [i, { label }] of open.options.entries()) lines.push(`${i + 1}. ${line(label)}`);
    lines.push('', `\`${prefix} answer <numbers, or your own words>\``, '');
  }
  const given = session.steps.filter((step) => step.answer !== null);
  if (given.length > 0) {
    lines.push('<details><summary>Answers so far</summary>', '');
    for (const { question, options, answer } of given) {
      const labels = options.filter((o) => answer?.selectedOptionIds.includes(o.id)).map((o) => o.label);
      lines.push(`- ${line(question)} ${line([...labels, answer?.customText ?? ''].filter(Boolean).join('; '), 500)}`);
    }
    lines.push('', '</details>', '');
  }
  if (session.plan !== null) {
    lines.push('**Phases**', '');
    for (const [i, { name, goal, reason }] of session.plan.phases.entries())
      lines.push(`${i + 1}. **${line(name, 100)}**: ${line(goal)} (${line(reason)})`);
    lines.push('');
  }
  if (session.tasks !== null) {
    lines.push('**Tasks**', '');
    for (const task of session.tasks) {
      const owner = task.owner === null ? '' : `, ${line(agents.get(task.owner) ?? 'an agent', 60)}`;
      const needs =
        task.dependsOn.length === 0 ? '' : `, after ${task.dependsOn.map((ref) => line(ref, 40)).join(', ')}`;
      lines.push(`- \`${task.ref.replace(/[`\s]+/g, ' ').slice(0, 40)}\` ${line(task.title, 200)}${owner}${needs}`);
    }
    lines.push('');
  }
  if (session.prd !== null)
    lines.push(
      `<details><summary>Requirements: ${line(session.prd.title, 150)}</summary>`,
      '',
      closedBlocks(harmless(session.prd.markdown, prefix).slice(0, 40_000)),
      '',
      '</details>',
      '',
    );
  lines.push(footer(session, prefix));
  const text = lines.join('\n');
  return text.length <= maxComment ? text : `${text.slice(0, maxComment - 100)}\n\n</details>\n\n… (cut)`;
}

function footer({ status, result }: Session, prefix: string): string {
  if (result !== null)
    return `Approved: the sprint **${harmlessLine(result.sprint.name, 200, prefix)}** with ${result.tasks.length} tasks. \`${prefix} start\` here starts it.`;
  if (status === 'tasks_ready')
    return `\`${prefix} approve\` makes a sprint of it, each task with an issue of its own. \`${prefix} plan <what should be different>\` writes it anew.`;
  return status === 'answered' ? `\`${prefix} plan\` goes on.` : '';
}
