import { z } from 'zod';
import type { App } from '../app.ts';
import type { Role } from '../domain/agent.ts';
import { Refused } from '../domain/machine.ts';
import type { PlanPart } from '../domain/wizard.ts';
import { type Access, type Asked, type InProject, idOrEmpty, inProject } from '../http/access/access.ts';
import { Repeated, type Route, route, wholeListQuery } from '../http/route.ts';
import type { Live } from './ask-model.ts';
import { deleteWizard, editWizard, showEditing } from './edit.ts';
import { createPlannedSprint, finalizeWizard } from './finalize.ts';
import { generate } from './generate.ts';
import { answerWizard, currentStep, startWizard } from './operations.ts';
import {
  AnswerWizard,
  CreatePlannedSprint,
  EditingQuery,
  EditWizard,
  FinalizeWizard,
  GenerateWizard,
  InitializeWizard,
  PlannedSprint,
  WizardEntry,
  WizardSession,
  WizardStart,
} from './schemas.ts';
import { getSession, listOpenSessions, listSessions, type Session } from './store.ts';
import { viewEntry, viewSession } from './view.ts';

const tag = 'planning';
const inside = inProject('member');

/** Finds the session in the path. */
function onSession(role: Role): Access<InProject & { session: Session }> {
  const { load, ...access } = inProject(role);
  return {
    ...access,
    load: async (app, asked) => {
      const entered = await load(app, asked);
      const session = await getSession(app.db.manager, entered.projectId, idOrEmpty(asked.params.sessionId ?? ''));
      return { ...entered, session };
    },
  };
}

/** Finds the session that the body may name. */
const onSessionOfBody: Access<InProject & { session: Session | undefined }> = {
  ...inside,
  load: async (app: App, asked: Asked) => {
    const entered = await inside.load(app, asked);
    const id = (asked.body as { sessionId?: unknown } | undefined)?.sessionId;
    const session =
      typeof id === 'string' ? await getSession(app.db.manager, entered.projectId, idOrEmpty(id)) : undefined;
    return { ...entered, session };
  },
};

/**
 * Returns the named session, or the only open one of the project.
 * @throws Refused when none or several are open
 */
async function chosen(app: App, projectId: string, named: Session | undefined): Promise<Session> {
  if (named !== undefined) return named;
  const [first, second] = await listOpenSessions(app.db.manager, projectId);
  if (first !== undefined && second === undefined) return first;
  throw new Refused(
    first === undefined
      ? 'The project has no open planning session. Start one, or give the sessionId of the one you mean.'
      : 'The project has several open planning sessions. Give the sessionId of the one you mean.',
  );
}

const modelErrors = { 502: 'The model answered with an error', 503: 'No model is configured' };
const wizard = '/projects/:projectId/wizard';

const generating = (operationId: string, part: PlanPart, summary: string) =>
  route({
    operationId,
    method: 'post',
    path: `${wizard}/generate-${part}`,
    summary,
    tag,
    access: onSessionOfBody,
    audit: { action: 'wizard.generate', made: ({ sessionId }, { projectId }) => ({ id: sessionId, projectId }) },
    body: GenerateWizard,
    reply: [200, WizardSession],
    errors: {
      409: 'This step does not follow the last one, or `sessionId` is missing and there is not exactly one open session',
      ...modelErrors,
    },
    costs: 'model',
    waits: 'before it writes',
    streams:
      'Events `text` with `{ text }`, which together are the JSON that the model writes; `restart` when it begins again; ' +
      '`read` with `{ text }` for what it reads; then `done` with the session, or `error`',
    stream: async (app, { projectId, session, user, body }, { send }) => {
      const live: Live = {
        onPiece: (text) => send({ event: 'text', data: { text } }),
        onRestart: () => send({ event: 'restart', data: {} }),
        onRead: (text) => send({ event: 'read', data: { text } }),
      };
      const wanted = { feedback: body.feedback, userId: user.id, askedBy: user.id, live };
      const written = await generate(app, await chosen(app, projectId, session), part, wanted);
      app.audit.about({ type: 'wizard', id: written.id, projectId });
      send({ event: 'done', data: WizardSession.parse(await viewSession(app.db.manager, written)) });
    },
    handle: async (app, { projectId, session, user, body }) => {
      const wanted = { feedback: body.feedback, userId: user.id, askedBy: user.id };
      return viewSession(app.db.manager, await generate(app, await chosen(app, projectId, session), part, wanted));
    },
  });

export const planningRoutes: Route[] = [
  route({
    operationId: 'listWizards',
    method: 'get',
    path: wizard,
    summary: 'List the planning sessions of a project, newest first',
    tag,
    access: inProject('viewer'),
    query: z.strictObject(wholeListQuery),
    reply: [200, z.array(WizardEntry)],
    paged: true,
    handle: async (app, { projectId, query }) => (await listSessions(app.db.manager, projectId, query)).map(viewEntry),
  }),
  route({
    operationId: 'startWizard',
    method: 'post',
    path: `${wizard}/initialize`,
    summary: 'Start planning from a goal. The reply contains the first question',
    tag,
    access: inside,
    audit: { action: 'wizard.start', made: ({ sessionId }, { projectId }) => ({ id: sessionId, projectId }) },
    body: InitializeWizard,
    reply: [201, WizardStart],
    errors: { 502: modelErrors[502] },
    costs: 'model',
    waits: 'before it writes',
    handle: async (app, { projectId, user, body }) => {
      const session = await startWizard(app, projectId, user.id, body);
      return {
        sessionId: session.id,
        currentStep: currentStep(session) as NonNullable<ReturnType<typeof currentStep>>,
      };
    },
  }),
  generating('generatePrd', 'prd', 'Write the requirements document from the answers'),
  generating('generatePlan', 'plan', 'Write the plan from the requirements document'),
  generating('generateTasks', 'tasks', 'Write the tasks from the plan'),
  route({
    operationId: 'createPlannedSprint',
    method: 'post',
    path: `${wizard}/create-sprint`,
    summary: 'Create a sprint with its tasks, all or none',
    tag,
    access: inside,
    audit: { action: 'sprint.plan', made: ({ sprint }, { projectId }) => ({ id: sprint.id, projectId }) },
    body: CreatePlannedSprint,
    reply: [201, PlannedSprint],
    handle: (app, { projectId, user, body }) => createPlannedSprint(app, projectId, user.id, body),
  }),
  route({
    operationId: 'getWizard',
    method: 'get',
    path: `${wizard}/:sessionId`,
    summary: 'Get the state of a planning session',
    tag,
    access: onSession('viewer'),
    reply: [200, WizardSession],
    handle: async (app, { session }) => viewSession(app.db.manager, session),
  }),
  route({
    operationId: 'editWizard',
    method: 'patch',
    path: `${wizard}/:sessionId`,
    summary: 'Edit the requirements, the plan or the tasks by hand. Parts that are not given stay unchanged',
    tag,
    access: onSession('member'),
    audit: { action: 'wizard.edit', object: ({ session }) => session },
    body: EditWizard,
    reply: [200, WizardSession],
    errors: { 409: '`updatedAt` is stale, or the session does not have the part before yet' },
    handle: async (app, { session, user, body }) =>
      viewSession(app.db.manager, await editWizard(app, session, user.id, body)),
  }),
  route({
    operationId: 'showEditing',
    method: 'get',
    path: `${wizard}/:sessionId/editing`,
    summary: 'Show other members that you edit a part of a plan, for as long as the stream is open',
    guide: null,
    tag,
    access: onSession('member'),
    query: EditingQuery,
    reply: [200, z.object({})],
    isStream: true,
    streams: 'No events. The session lists its open streams as `editors`',
    stream: (app, { session, user, query }, out) =>
      showEditing(app, session, { userId: user.id, part: query.part }, out),
    handle: async () => ({}),
  }),
  route({
    operationId: 'deleteWizard',
    method: 'delete',
    path: `${wizard}/:sessionId`,
    summary: 'Delete a planning session. Its sprint stays',
    tag,
    access: onSession('member'),
    audit: { action: 'wizard.delete', object: ({ session }) => session },
    reply: [204],
    handle: (app, { session }) => deleteWizard(app, session),
  }),
  route({
    operationId: 'answerWizard',
    method: 'post',
    path: `${wizard}/:sessionId/answer`,
    summary: 'Answer a question. A new answer to an earlier question discards everything after it',
    tag,
    access: onSession('member'),
    audit: { action: 'wizard.answer', object: ({ session }) => session },
    body: AnswerWizard,
    reply: [200, WizardSession],
    errors: { 409: 'The session is finalized, or somebody else changed it', 502: modelErrors[502] },
    costs: 'model',
    waits: 'before it writes',
    handle: async (app, { session, user, body }) =>
      viewSession(app.db.manager, await answerWizard(app, session, body.answer, { answeredBy: user.id })),
  }),
  route({
    operationId: 'finalizeWizard',
    method: 'post',
    path: `${wizard}/:sessionId/finalize`,
    summary: 'Create the sprint with all its tasks. If it is already created, return it with status 200',
    tag,
    access: onSession('member'),
    audit: { action: 'wizard.finalize', object: ({ session }) => session },
    body: FinalizeWizard,
    reply: [201, PlannedSprint],
    repeats: 'The session was already finalized. The reply is the same',
    errors: { 409: 'The tasks are not generated yet' },
    handle: async (app, { session, user, body }) => {
      const { made, isRepeated } = await finalizeWizard(app, session, user.id, body);
      return isRepeated ? new Repeated(made) : made;
    },
  }),
];
