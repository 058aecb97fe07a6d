import { messageOf, type Wire } from '../../src/llm/model.ts';
import { ask, key, modelsAt, opening } from './models.ts';
import { chunk, message, openScript, whole } from './scripted.ts';
import type { Answer, Fields } from './servers/serve.ts';

let scripted: Awaited<ReturnType<typeof openScript>>;
beforeAll(async () => {
  scripted = await openScript();
});
afterAll(() => scripted.close());

test('Chat: unknown fields of a streamed message and of its calls come back unchanged', async () => {
  const events = [
    chunk({ role: 'assistant', reasoning_content: 'I ', x: { list: [{ index: 0, text: 'a' }] } }),
    chunk({
      reasoning_content: 'think',
      x: {
        list: [
          { index: 0, text: 'b' },
          { index: 1, text: 'c' },
        ],
      },
    }),
    chunk({
      tool_calls: [
        {
          index: 0,
          id: 'c1',
          type: 'function',
          function: { name: 'add', arguments: '{"a"' },
          extra_content: { google: { thought_signature: 's' } },
        },
      ],
    }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
    chunk({}, 'tool_calls'),
  ];
  const { reply } = await scripted.asked('chat', [{ events }]);
  expect(reply.toolCalls).toEqual([{ id: 'c1', name: 'add', arguments: '{"a":1}' }]);
  scripted.prepare([whole({ content: 'fine' })]);
  const result = { role: 'tool' as const, toolCallId: 'c1', content: '1' };
  await ask(modelsAt(scripted.url).withKey('m', key), {}, [...opening, messageOf(reply), result]);
  expect((scripted.last().messages as Fields[])[2]).toEqual({
    role: 'assistant',
    content: null,
    reasoning_content: 'I think',
    x: {
      list: [
        { index: 0, text: 'ab' },
        { index: 1, text: 'c' },
      ],
    },
    tool_calls: [
      {
        id: 'c1',
        type: 'function',
        function: { name: 'add', arguments: '{"a":1}' },
        extra_content: { google: { thought_signature: 's' } },
      },
    ],
  });
});

test('Chat: calls without ids, or with the same one, get ids of their own', async () => {
  const tool_calls = ['', 'a', 'a'].map((id) => ({ id, function: { name: 'add', arguments: { a: 1 } } }));
  const { reply } = await scripted.asked('chat', [whole({ content: null, tool_calls })]);
  const ids = reply.toolCalls.map((call) => call.id);
  expect([new Set(ids).size, ids[1], ids.every((id) => /^[a-z0-9_]{1,40}$/.test(id))]).toEqual([3, 'a', true]);
  expect(reply.toolCalls[0]?.arguments).toBe('{"a":1}');
});

test('what one API or model kept is dropped for another, and its calls are sent plainly', async () => {
  const output = [
    { type: 'reasoning', encrypted_content: 's', summary: [] },
    { type: 'function_call', call_id: 'c1', name: 'add', arguments: '{"a":' },
  ];
  const { reply } = await scripted.asked('responses', [{ json: { status: 'completed', output } }]);
  const result = { role: 'tool' as const, toolCallId: 'c1', content: '1' };
  const messages = [...opening, messageOf(reply), result];
  scripted.prepare([whole({ content: 'fine' })]);
  await ask(modelsAt(scripted.url, { api: 'chat' }).withKey('m', key), {}, messages);
  // Arguments that are not JSON would be refused by the servers that parse them.
  const args = '{"invalid_json":"{\\"a\\":"}';
  expect((scripted.last().messages as Fields[])[2]).toEqual({
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: args } }],
  });
  scripted.prepare([{ json: { status: 'completed', output: [message('fine')] } }]);
  await ask(modelsAt(scripted.url, { api: 'responses' }).withKey('another', key), {}, messages);
  expect((scripted.last().input as Fields[])[2]).toEqual({
    type: 'function_call',
    call_id: 'c1',
    name: 'add',
    arguments: args,
  });
  scripted.prepare([{ json: { status: 'completed', output: [message('fine')] } }]);
  await ask(modelsAt(scripted.url, { api: 'responses' }).withKey('m', key), {}, messages);
  expect((scripted.last().input as Fields[]).slice(2, 4)).toEqual(output);
});

test('Responses: an answer that was cut during its reasoning keeps none of it', async () => {
  const cut = {
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    output: [{ type: 'reasoning', encrypted_content: 's' }],
  };
  const { reply } = await scripted.asked('responses', [{ json: cut }]);
  expect([reply.isCut, reply.text, reply.kept]).toEqual([true, '', undefined]);
});

test.each<[string, Wire, Fields, boolean]>([
  // https://github.com/vllm-project/vllm/issues/53269
  ['that reached the limit of its length', 'chat', { usage: { prompt_tokens: 9, completion_tokens: 300 } }, true],
  ['that reached the limit of its length', 'responses', { usage: { input_tokens: 9, output_tokens: 300 } }, true],
  ['of a server that ignores the limit', 'chat', { usage: { prompt_tokens: 9, completion_tokens: 301 } }, false],
  ['that is one token shorter', 'chat', { usage: { prompt_tokens: 9, completion_tokens: 299 } }, false],
  ['that filled the window of a model at Mistral', 'chat', { finish_reason: 'model_length' }, true],
])('an answer %s is cut or not, whatever the server calls it (%s, %j)', async (_what, wire, more, isCut) => {
  const { usage, ...choice } = more;
  const json =
    wire === 'chat'
      ? { choices: [{ message: { content: 'One' }, finish_reason: 'tool_calls', ...choice }], usage }
      : { status: 'completed', output: [message('One')], usage };
  const { reply } = await scripted.asked(wire, [{ json }], { maxOutputTokens: 300 });
  expect([reply.text, reply.isCut]).toEqual(['One', isCut]);
});

test('Chat: a call in the field function_call is read, also if the answer came as a whole', async () => {
  const answer = whole({ content: null, function_call: { name: 'add', arguments: '{"a":1}' } });
  const { reply } = await scripted.asked('chat', [answer]);
  expect(reply.toolCalls).toMatchObject([{ name: 'add', arguments: '{"a":1}' }]);
  const { reply: other } = await scripted.asked('chat', [
    whole({ content: 'fine', function_call: { name: '', arguments: '' } }),
  ]);
  expect([other.text, other.toolCalls]).toEqual(['fine', []]);
});

test.each<[string, Wire, Answer, RegExp]>([
  [
    'a policy of OpenAI',
    'responses',
    { json: { status: 'failed', error: { code: 'bio_policy', message: 'Not allowed.' }, output: [] } },
    /content filter refused the request; describe the task differently.*Not allowed\.$/,
  ],
  [
    'a content filter',
    'chat',
    whole({ content: 'I will' }, { finish_reason: 'content_filter' }),
    /content filter stopped the answer; describe the task differently/,
  ],
  [
    'a content filter',
    'responses',
    { json: { status: 'incomplete', incomplete_details: { reason: 'content_filter' }, output: [] } },
    /content filter stopped the answer/,
  ],
  [
    'a refusal',
    'chat',
    whole({ content: null, refusal: "I can't help with that." }),
    /the model refused to answer; .* It said: I can't help with that\.$/,
  ],
  [
    'a refusal',
    'responses',
    { json: { status: 'completed', output: [{ type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] }] } },
    /the model refused to answer.* It said: No\.$/,
  ],
  ['another format', 'chat', { json: { choices: [] } }, /not a Chat Completion: choices.*check OPENAI_BASE_URL/],
  ['another format', 'responses', whole({ content: 'x' }), /not a Response: output.*check OPENAI_BASE_URL/],
])('%s ends in a clear sentence (%s)', async (_what, wire, answer, sentence) => {
  const failure = await scripted.failed(wire, [answer]);
  expect([failure.fault, failure.isTransient]).toEqual(['model', false]);
  expect(failure.message).toMatch(sentence);
});

test('Chat: an error in place of an answer, with status 200, is read as an error', async () => {
  const error = { message: 'Provider returned error', code: 429, metadata: { raw: 'slow down' } };
  const { reply } = await scripted.asked('chat', [{ json: { error } }, whole({ content: 'fine' })]);
  expect(reply.text).toBe('fine');
});
