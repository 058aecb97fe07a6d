import type { App } from '../app.ts';
import { Refused } from '../domain/machine.ts';
import { type Access, type Asked, type InProject, idOrEmpty, inProject } from '../http/access/access.ts';
import { Repeated, type Route, route } from '../http/route.ts';
import { createPlannedSprint, finalizeWizard } from './finalize.ts';
import { answerWizard, currentStep, generate, startWizard } from './operations.ts';
import {
  AnswerWizard,
  CreatePlannedSprint,
  FinalizeWizard,
  GenerateWizard,
  InitializeWizard,
  PlannedSprint,
  WizardSession,
  WizardStart,
} from './schemas.ts';
import { getSession, listOpenSessions, type Session } from './store.ts';

const tag = 'planning';
const inside = inProject('member');

/** Finds the session in the path. */
const onSession: Access<InProject & { session: Session }> = {
  ...inside,
  load: async (app, asked) => {
    const entered = await inside.load(app, asked);
    const session = await getSession(app.db.manager, entered.projectId, idOrEmpty(asked.params.sessionId ?? ''));
    return { ...entered, session };
  },
};

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

/** Converts a session to the form that the API returns. */
function view(session: Session) {
  const open = currentStep(session);
  return {
    sessionId: session.id,
    status: session.status,
    goal: session.goal,
    repositoryId: session.repositoryId,
    currentStep: open ?? null,
    answers: session.steps.flatMap(({ id, question, options, answer }) =>
      answer === null ? [] : [{ stepId: id, question, options, ...answer }],
    ),
    prd: session.prd,
    plan: session.plan,
    tasks: session.tasks,
  };
}

const modelErrors = { 502: 'The model answered with an error', 503: 'No model is configured' };
const wizard = '/projects/:projectId/wizard';

const generating = (operationId: string, part: 'prd' | 'plan' | 'tasks', summary: string) =>
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
      409: 'This step does not follow the last one, or `sessionId` is missing and the number of open sessions is not one',
      ...modelErrors,
    },
    costs: 'model',
    waits: 'before it writes',
    handle: async (app, { projectId, session, body }) =>
      view(await generate(app, await chosen(app, projectId, session), part, body.feedback)),
  });

export const planningRoutes: Route[] = [
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
    access: onSession,
    reply: [200, WizardSession],
    handle: async (_app, { session }) => view(session),
  }),
  route({
    operationId: 'answerWizard',
    method: 'post',
    path: `${wizard}/:sessionId/answer`,
    summary: 'Answer a question. A new answer to an earlier question discards everything after it',
    tag,
    access: onSession,
    audit: { action: 'wizard.answer', object: ({ session }) => session },
    body: AnswerWizard,
    reply: [200, WizardSession],
    errors: { 409: 'The session is finalized, or somebody else changed it', 502: modelErrors[502] },
    costs: 'model',
    waits: 'before it writes',
    handle: async (app, { session, body }) => view(await answerWizard(app, session, body.answer)),
  }),
  route({
    operationId: 'finalizeWizard',
    method: 'post',
    path: `${wizard}/:sessionId/finalize`,
    summary: 'Create the sprint with all its tasks. If it is already created, return it with status 200',
    tag,
    access: onSession,
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
