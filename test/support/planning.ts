import type { ModelRequest, Said } from '../../demo/model/model.ts';
import { openAppWithModel } from './app.ts';
import { planner } from './stand-ins/planner.ts';

export interface Step {
  id: string;
  options: { id: string; label: string }[];
}

/** Call it once in a test file: opens a service with a scripted model for the wizard. Each test has a project of its own. */
export async function openPlanning(settings: Record<string, string> = {}) {
  const { talk, model, service } = await openAppWithModel(settings);
  const token = await service.token('octocat');
  const call = (method: string, path: string, body?: unknown) =>
    service.call(method, path, { token, ...(body === undefined ? {} : { body }) });
  const wizard = (what: string, body: object = {}) => call('POST', `/projects/${given.project}/wizard/${what}`, body);
  const begin = async () => (await wizard('initialize', { goal: 'Greet people by their name' })).body;
  const answer = (id: string, step: Step, customText = '') =>
    wizard(`${id}/answer`, { answer: { stepId: step.id, selectedOptionIds: [step.options[0]?.id], customText } });
  const answerAll = async (id: string, first: Step) => {
    const asked = [first.id];
    let { body } = await answer(id, first);
    while (body.currentStep !== null) {
      asked.push(body.currentStep.id);
      ({ body } = await answer(id, body.currentStep, `about ${body.currentStep.id}`));
    }
    return { asked, session: body };
  };
  const given = {
    model,
    service,
    token,
    project: '',
    /** What the model answers. */
    says: planner as (request: ModelRequest) => Said,
    /** What happens, once, while the model writes its next answer. */
    meanwhile: undefined as (() => Promise<unknown>) | undefined,
    call,
    wizard,
    begin,
    answer,
    answerAll,
    session: async (id: string) => (await call('GET', `/projects/${given.project}/wizard/${id}`)).body,
    /** Begins a session, answers its questions and generates these parts. Returns its id. */
    planned: async (parts: string[] = ['prd', 'plan', 'tasks']): Promise<string> => {
      const { sessionId, currentStep } = await begin();
      await answerAll(sessionId, currentStep);
      for (const part of parts) expect((await wizard(`generate-${part}`, { sessionId })).status).toBe(200);
      return sessionId;
    },
  };
  talk.says = (request) => given.says(request);
  talk.before = async () => {
    const act = given.meanwhile;
    given.meanwhile = undefined;
    await act?.();
  };
  beforeEach(async () => {
    [given.says, given.meanwhile] = [planner, undefined];
    given.project = (await call('POST', '/projects', { name: 'P' })).body.id;
  });
  return given;
}
