import { z } from 'zod';
import { IdText, type Route, route, titleText } from '../../http/route.ts';
import { onTask } from '../../tasks/routes.ts';
import { Task } from '../../tasks/schemas.ts';
import { answerRun, approveRun, pauseRun, resumeRun, sayToRun } from './operations.ts';

/** The longest text that a person says to an agent. */
const maxText = 10_000;

/** The longest plan, as in the tool by which agents propose one. */
const maxPlan = 20_000;

const SayToRun = z.strictObject({ text: titleText(maxText) });

/** The `id` of the attention that somebody acts on. A later one is refused. */
const seenId = IdText.optional().meta({ description: 'the id of `attention`; another one is refused' });

const ApproveRun = z.strictObject({
  id: seenId,
  plan: titleText(maxPlan).optional().meta({
    description: 'the plan in Markdown as the caller changed it; the agent carries it out instead of its own',
  }),
});

const AnswerRun = z.strictObject({ text: titleText(maxText), id: seenId });

const Accepted = z.object({}).meta({ id: 'Accepted', description: 'The request was accepted' });

const tag = 'tasks';
const waitErrors = { 409: 'The task does not wait for this; the message says what it waits for' };

/** What people do about the unfinished run of a task. */
export const waitingRoutes: Route[] = [
  route({
    operationId: 'approveTask',
    method: 'post',
    path: '/tasks/:id/approve',
    summary: 'Approve the plan or change of a waiting run. The run then carries out the plan or pushes the change',
    guide:
      "Approve a plan or a change that waits for a person (`attention`). This is your person's decision: show them what waits and ask before you call it. If they want the plan changed, send the whole changed text in `plan`.",
    tag,
    access: onTask('member'),
    audit: { action: 'task.approve', object: ({ task }) => task },
    body: ApproveRun,
    reply: [200, Task],
    errors: { ...waitErrors, 403: 'The caller started the task, and its repository asks for the approval of others' },
    costs: 'start',
    waits: 'before it writes',
    handle: (app, { task, user, body }) => approveRun(app, { taskId: task.id, userId: user.id, ...body }),
  }),
  route({
    operationId: 'answerTask',
    method: 'post',
    path: '/tasks/:id/answer',
    summary: 'Answer the question of a run. The answer may be the number of an option',
    guide:
      'Answer the question that an agent has asked; the run continues. If you are not sure of the answer, ask your person.',
    tag,
    access: onTask('member'),
    audit: { action: 'task.answer', object: ({ task }) => task },
    body: AnswerRun,
    reply: [200, Task],
    errors: waitErrors,
    costs: 'start',
    waits: 'before it writes',
    handle: (app, { task, user, body }) => answerRun(app, { taskId: task.id, userId: user.id, ...body }),
  }),
  route({
    operationId: 'sayToTask',
    method: 'post',
    path: '/tasks/:id/say',
    summary: 'Send a message to the agent of an unfinished run. The agent reads it before its next turn',
    guide: 'Say something to the agent of a running task. It reads the message before its next step.',
    tag,
    access: onTask('member'),
    audit: { action: 'task.say', object: ({ task }) => task },
    body: SayToRun,
    reply: [202, Accepted],
    errors: { 409: 'The task has no unfinished run, or its agent has not read the last 20 messages' },
    waits: 'before it writes',
    handle: async (app, { task, user, body }) => {
      await sayToRun(app, { taskId: task.id, userId: user.id, text: body.text });
      return {};
    },
  }),
  route({
    operationId: 'pauseTask',
    method: 'post',
    path: '/tasks/:id/pause',
    summary: 'Pause the run of a task: at once while it is queued, otherwise after the current turn of its agent',
    guide: 'Pause the run of a task after its current step.',
    tag,
    access: onTask('member'),
    audit: { action: 'task.pause', object: ({ task }) => task },
    reply: [200, Task],
    errors: { 409: 'The task has no unfinished run, or it waits for something else' },
    handle: (app, { task, user }) => pauseRun(app, { taskId: task.id, userId: user.id }),
  }),
  route({
    operationId: 'resumeTask',
    method: 'post',
    path: '/tasks/:id/resume',
    summary: 'Let a paused run continue',
    guide: 'Continue a paused run.',
    tag,
    access: onTask('member'),
    audit: { action: 'task.resume', object: ({ task }) => task },
    reply: [200, Task],
    errors: waitErrors,
    costs: 'start',
    handle: (app, { task, user }) => resumeRun(app, { taskId: task.id, userId: user.id }),
  }),
];
