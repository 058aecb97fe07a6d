import { type ModelRequest, type Said, type ScriptedModel, startModel } from '../../src/demo/model/model.ts';
import { openTestApp, type TestApp } from './app.ts';
import { planner } from './stand-ins/planner.ts';

export interface Step {
  id: string;
  options: { id: string; label: string }[];
}

/** Opens a service with a scripted model, for the tests of one file on the wizard. Each test has a project of its own. */
export function openPlanning(settings: Record<string, string> = {}) {
  const call = (method: string, path: string, body?: unknown) =>
    given.service.call(method, path, { token: given.token, ...(body === undefined ? {} : { body }) });
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
    model: {} as ScriptedModel,
    service: {} as TestApp,
    token: '',
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
  const before = async () => {
    const act = given.meanwhile;
    given.meanwhile = undefined;
    await act?.();
  };
  beforeAll(async () => {
    given.model = await startModel((request) => given.says(request), before);
    given.service = await openTestApp({
      OPENAI_API_KEY: 'sk-x',
      OPENAI_MODEL: 'm',
      OPENAI_BASE_URL: given.model.url,
      RATE_LIMIT_MODEL: '0',
      ...settings,
    });
    given.token = await given.service.token('octocat');
  });
  beforeEach(async () => {
    [given.says, given.meanwhile] = [planner, undefined];
    given.project = (await call('POST', '/projects', { name: 'P' })).body.id;
  });
  afterAll(async () => {
    await given.service.close();
    await given.model.close();
  });
  return given;
}
