import { openPlanning } from '../support/planning.ts';

const given = await openPlanning();
const { service, token } = given;
const send = (method: string, path = '', body?: object, as = token) =>
  service.call(method, `/projects/${given.project}${path}`, { token: as, ...(body === undefined ? {} : { body }) });

/** Starts a session. Returns its id and an answer to its first question. */
async function begin() {
  const { sessionId, currentStep } = (await send('POST', '/wizard/initialize', { goal: 'Greet people' })).body;
  return { sessionId: sessionId as string, answer: { stepId: currentStep.id as string, customText: 'All' } };
}

/** Answers the questions of a session. */
async function answerAll(sessionId: string): Promise<void> {
  const at = `/wizard/${sessionId}`;
  for (let { currentStep } = (await send('GET', at)).body; currentStep !== null; ) {
    const answer = { stepId: currentStep.id, customText: 'As usual' };
    ({ currentStep } = (await send('POST', `${at}/answer`, { answer })).body);
  }
}

/** Sends a request, and calls `act` while the model writes. */
function whileWriting(path: string, body: object, as: string, act: () => Promise<unknown>) {
  given.meanwhile = act;
  return send('POST', path, body, as);
}

test('a removed member does not get what they are waiting for, and nothing of it is stored', async () => {
  const { sessionId, answer } = await begin();
  const friend = await service.token('hubot');
  const { id } = (await service.call('GET', '/me', { token: friend })).body;
  const refused = async (path: string, body: object) => {
    await send('POST', '/members', { login: 'hubot' });
    const before = (await send('GET', '/wizard')).body;
    const reply = await whileWriting(path, body, friend, () => send('DELETE', `/members/${id}`));
    expect((await send('GET', '/wizard')).body).toEqual(before);
    return [reply.status, reply.body.message];
  };
  const expected = [403, `User is not a member of project ${given.project}`];
  expect(await refused('/wizard/initialize', { goal: 'Greet strangers' })).toEqual(expected);
  expect(await refused(`/wizard/${sessionId}/answer`, { answer })).toEqual(expected);
  await answerAll(sessionId);
  expect(await refused('/wizard/generate-prd', { sessionId })).toEqual(expected);
});

test('a session that is deleted while the model writes is not found, and neither is one of a deleted project', async () => {
  const { sessionId } = await begin();
  await answerAll(sessionId);
  const remove = () => send('DELETE', `/wizard/${sessionId}`);
  const gone = await whileWriting('/wizard/generate-prd', { sessionId }, token, remove);
  expect([gone.status, gone.body.message]).toEqual([404, `Wizard session ${sessionId} not found`]);
  const { sessionId: other, answer } = await begin();
  const lost = await whileWriting(`/wizard/${other}/answer`, { answer }, token, () => send('DELETE'));
  expect([lost.status, lost.body.message]).toEqual([403, `User is not a member of project ${given.project}`]);
});
