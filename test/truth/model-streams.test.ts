import type {
  Response as OpenAIResponse,
  ResponseOutputItem,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses';
import type { Json } from './description.ts';
import { readModelApi } from './model-api.ts';
import { noteEvents } from './model-records.ts';
import { type Example, openReader, seen } from './reading.ts';

// The types of the client library describe the API. The reader of streams gets each event that they have.

const { declarations, typeIn } = readModelApi();
const { read, examples, counts } = openReader(declarations);
afterAll(() => noteEvents('responses', counts()));

/** What the service does with an event. A new version of the library may have more; then this is a type error. */
const purposes: Record<
  ResponseStreamEvent['type'],
  'text' | 'refusal' | 'call' | 'item' | 'end' | 'error' | 'ignored'
> = {
  'response.output_text.delta': 'text',
  'response.output_text.done': 'text',
  'response.refusal.delta': 'refusal',
  'response.refusal.done': 'refusal',
  'response.function_call_arguments.delta': 'call',
  'response.function_call_arguments.done': 'call',
  'response.output_item.added': 'item',
  'response.output_item.done': 'item',
  'response.completed': 'end',
  'response.incomplete': 'end',
  'response.failed': 'end',
  error: 'error',
  // What the answer is about to be. It comes again with the last event.
  'response.created': 'ignored',
  'response.queued': 'ignored',
  'response.in_progress': 'ignored',
  'response.compaction.compacting': 'ignored',
  // The text comes in its own events, and whole in the item.
  'response.content_part.added': 'ignored',
  'response.content_part.done': 'ignored',
  'response.output_text.annotation.added': 'ignored',
  // Reasoning is not shown. It is kept, as it is in the item.
  'response.reasoning_summary_part.added': 'ignored',
  'response.reasoning_summary_part.done': 'ignored',
  'response.reasoning_summary_text.delta': 'ignored',
  'response.reasoning_summary_text.done': 'ignored',
  'response.reasoning_text.delta': 'ignored',
  'response.reasoning_text.done': 'ignored',
  // Tools that run at the server, and sound. The service offers functions only.
  'response.audio.delta': 'ignored',
  'response.audio.done': 'ignored',
  'response.audio.transcript.delta': 'ignored',
  'response.audio.transcript.done': 'ignored',
  'response.code_interpreter_call_code.delta': 'ignored',
  'response.code_interpreter_call_code.done': 'ignored',
  'response.code_interpreter_call.completed': 'ignored',
  'response.code_interpreter_call.in_progress': 'ignored',
  'response.code_interpreter_call.interpreting': 'ignored',
  'response.custom_tool_call_input.delta': 'ignored',
  'response.custom_tool_call_input.done': 'ignored',
  'response.file_search_call.completed': 'ignored',
  'response.file_search_call.in_progress': 'ignored',
  'response.file_search_call.searching': 'ignored',
  'response.image_generation_call.completed': 'ignored',
  'response.image_generation_call.generating': 'ignored',
  'response.image_generation_call.in_progress': 'ignored',
  'response.image_generation_call.partial_image': 'ignored',
  'response.mcp_call_arguments.delta': 'ignored',
  'response.mcp_call_arguments.done': 'ignored',
  'response.mcp_call.completed': 'ignored',
  'response.mcp_call.failed': 'ignored',
  'response.mcp_call.in_progress': 'ignored',
  'response.mcp_list_tools.completed': 'ignored',
  'response.mcp_list_tools.failed': 'ignored',
  'response.mcp_list_tools.in_progress': 'ignored',
  'response.shell_call_command.added': 'ignored',
  'response.shell_call_command.delta': 'ignored',
  'response.shell_call_command.done': 'ignored',
  'response.shell_call_output_content.delta': 'ignored',
  'response.shell_call_output_content.done': 'ignored',
  'response.web_search_call.completed': 'ignored',
  'response.web_search_call.in_progress': 'ignored',
  'response.web_search_call.searching': 'ignored',
};

const documented = declarations.members(typeIn('responses', 'ResponseStreamEvent'));
const typeOf = (schema: Json) => String(declarations.fields(schema).type?.enum?.[0]);
const ofPurpose = (...wanted: string[]) =>
  documented
    .map((schema) => [typeOf(schema), schema] as const)
    .filter(([type]) => wanted.includes(purposes[type as 'error']));
const exampleOfType = (type: ResponseStreamEvent['type']) =>
  documented.filter((schema) => typeOf(schema) === type).flatMap(examples)[0] as Example;

const usage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 40, cache_write_tokens: 50 },
  output_tokens: 30,
  output_tokens_details: { reasoning_tokens: 10 },
  total_tokens: 130,
};
const counted = { inputTokens: 100, cachedInputTokens: 40, cacheWriteTokens: 50, outputTokens: 30 };

function response(more: Partial<OpenAIResponse>): OpenAIResponse {
  const settings = {
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
  } as const;
  const nothing = { access_programs: null, error: null, incomplete_details: null, instructions: null, metadata: null };
  const named = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', output_text: '' } as const;
  return { ...named, ...settings, ...nothing, tools: [], output: [], ...more };
}

const reasoning: ResponseOutputItem = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'sealed' };
const message: ResponseOutputItem = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', annotations: [], text: 'One two' }],
};
const call: ResponseOutputItem = {
  id: 'fc_1',
  type: 'function_call',
  status: 'completed',
  call_id: 'call_1',
  name: 'add',
  arguments: '{"a":1}',
};

/** A stream as OpenAI sends it. The compiler checks that each event is well-formed. */
const whole: ResponseStreamEvent[] = [
  { type: 'response.created', sequence_number: 0, response: response({ status: 'in_progress' }) },
  { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item: { ...reasoning, summary: [] } },
  { type: 'response.output_item.done', sequence_number: 2, output_index: 0, item: reasoning },
  {
    type: 'response.output_item.added',
    sequence_number: 3,
    output_index: 1,
    item: { ...message, status: 'in_progress', content: [] },
  },
  ...['One ', 'two'].map((delta, i): ResponseStreamEvent => {
    const place = { item_id: 'msg_1', output_index: 1, content_index: 0 };
    return { type: 'response.output_text.delta', sequence_number: 4 + i, ...place, delta, logprobs: [] };
  }),
  {
    type: 'response.output_text.done',
    sequence_number: 6,
    item_id: 'msg_1',
    output_index: 1,
    content_index: 0,
    text: 'One two',
    logprobs: [],
  },
  { type: 'response.output_item.done', sequence_number: 7, output_index: 1, item: message },
  {
    type: 'response.output_item.added',
    sequence_number: 8,
    output_index: 2,
    item: { ...call, status: 'in_progress', arguments: '' },
  },
  ...['{"a"', ':1}'].map((delta, i): ResponseStreamEvent => {
    const place = { item_id: 'fc_1', output_index: 2 };
    return { type: 'response.function_call_arguments.delta', sequence_number: 9 + i, ...place, delta };
  }),
  {
    type: 'response.function_call_arguments.done',
    sequence_number: 11,
    item_id: 'fc_1',
    output_index: 2,
    arguments: '{"a":1}',
  },
  { type: 'response.output_item.done', sequence_number: 12, output_index: 2, item: call },
];
const complete = (more: Partial<OpenAIResponse> = {}): ResponseStreamEvent => ({
  type: 'response.completed',
  sequence_number: 13,
  response: response({ status: 'completed', usage, ...more }),
});

const expected = {
  text: 'One two',
  calls: 'add:{"a";add::1};',
  toolCalls: [{ id: 'call_1', name: 'add', arguments: '{"a":1}' }],
  isCut: false,
  ...counted,
};

describe('Responses', () => {
  test('every event of the client library has a purpose here', () => {
    expect(documented.map(typeOf).sort()).toEqual(Object.keys(purposes).sort());
  });

  test('a stream is read the same with and without the items in its last event', async () => {
    for (const output of [[], [reasoning, message, call]]) {
      const answer = await read('responses', [...whole, complete({ output })]);
      expect(seen(answer)).toEqual(expected);
      expect(answer.reply?.kept?.items).toEqual({ model: 'm', output: [reasoning, message, call] });
    }
  });

  test.each(ofPurpose('ignored'))('%s changes nothing, alone and everywhere in a stream', async (_type, schema) => {
    for (const event of examples(schema)) {
      expect(await read('responses', [event])).toEqual({ text: '', calls: '', isInterrupted: true });
      const everywhere = [...whole, complete()].flatMap((each) => [event, each, event]);
      expect(seen(await read('responses', everywhere))).toEqual(expected);
    }
  });

  test.each([
    { type: 'response.future.delta', delta: 'x', sequence_number: 1 },
    { type: 'keepalive' },
    {
      type: 'response.reasoning_part.added',
      item_id: 'x',
      output_index: 0,
      part: { type: 'reasoning_text', text: '' },
    },
  ])('an event that no documentation has changes nothing: %j', async (event) => {
    expect(seen(await read('responses', [event, ...whole, event, complete(), event]))).toEqual(expected);
  });

  test.each(ofPurpose('text', 'refusal', 'call', 'item'))('%s alone is no complete answer', async (_type, schema) => {
    for (const event of examples(schema)) expect((await read('responses', [event])).isInterrupted).toBe(true);
  });

  test.each(ofPurpose('text'))('%s is text, and no other event has to repeat it', async (_type, schema) => {
    for (const event of examples(schema)) {
      const { reply, text } = await read('responses', [event, complete()]);
      expect([reply?.text, text]).toEqual(['text', 'text']);
    }
  });

  test.each(ofPurpose('refusal'))('%s is a refusal, and no other event has to repeat it', async (_type, schema) => {
    for (const event of examples(schema)) {
      const { failure, text } = await read('responses', [event, complete()]);
      expect([failure, text]).toEqual([expect.stringMatching(/^the model refused to answer.* It said: text$/), '']);
    }
  });

  test.each(ofPurpose('call'))('%s completes the call that was announced, and needs one', async (type, schema) => {
    const added = { ...exampleOfType('response.output_item.added'), item: { ...call, arguments: '' } };
    for (const event of examples(schema)) {
      const { reply, calls } = await read('responses', [added, event, complete()]);
      expect([reply?.toolCalls, calls]).toEqual([[{ ...expected.toolCalls[0], arguments: 'text' }], 'add:text;']);
      expect(seen(await read('responses', [event, complete()]))).toMatchObject({ text: '', calls: '', toolCalls: [] });
    }
    expect(type).toMatch(/^response\.function_call_arguments\./);
  });
});

describe('items of Responses', () => {
  const items = declarations
    .members(typeIn('responses', 'ResponseOutputItem'))
    .map((schema) => [typeOf(schema), schema] as const);

  test.each(items)('%s is read or kept', async (type, schema) => {
    for (const item of examples(schema)) {
      const done = { ...exampleOfType('response.output_item.done'), item, output_index: 0 };
      const last = { ...exampleOfType('response.output_item.done'), item: message, output_index: 1 };
      const { reply } = await read('responses', [done, last, complete()]);
      const hasText = type === 'message' && (item.content as unknown[]).length > 0;
      expect(reply?.text).toBe(hasText ? 'textOne two' : 'One two');
      expect(reply?.toolCalls).toEqual(
        type === 'function_call' ? [{ id: 'text', name: 'text', arguments: 'text' }] : [],
      );
      expect(reply?.kept?.items).toEqual({ model: 'm', output: [item, message] });
    }
  });

  test.each(items)('%s that is only announced is no part of the answer, unless it is a call', async (type, schema) => {
    for (const item of examples(schema)) {
      const added = { ...exampleOfType('response.output_item.added'), item };
      const { reply } = await read('responses', [added, complete()]);
      expect([reply?.text, reply?.toolCalls.length]).toEqual(['', type === 'function_call' ? 1 : 0]);
    }
  });
});

describe('the end of Responses', () => {
  const responseType = typeIn('responses', 'Response');

  test.each(
    declarations.values(declarations.fields(typeIn('responses', 'Response.IncompleteDetails')).reason),
  )('incomplete, %s', async (reason) => {
    const details = { status: 'incomplete', incomplete_details: { reason } } as Partial<OpenAIResponse>;
    const last = { ...complete(details), type: 'response.incomplete' };
    const { reply, failure } = await read('responses', [...whole, last]);
    if (reason === 'content_filter') expect(failure).toMatch(/content filter stopped the answer/);
    else expect(reply).toMatchObject({ text: 'One two', isCut: true, ...counted });
  });

  test.each(
    declarations.values(declarations.fields(typeIn('responses', 'ResponseError')).code),
  )('failed, %s', async (code) => {
    const error = { code, message: 'It failed.' };
    const last = { ...complete({ status: 'failed', error: error as never }), type: 'response.failed' };
    const read_ = await read('responses', [...whole, last]);
    const isTemporary = { server_error: 503, vector_store_timeout: 503, rate_limit_exceeded: 429 }[String(code)];
    expect(read_.error).toEqual({ status: isTemporary ?? 400, text: 'It failed.' });
  });

  test('failed without an error is an interruption', async () => {
    const last = { ...complete({ status: 'failed' }), type: 'response.failed' };
    expect((await read('responses', [...whole, last])).isInterrupted).toBe(true);
  });

  test.each(
    declarations.values(declarations.fields(responseType).status),
  )('the status %s in the last event', async (status) => {
    const { reply, isInterrupted } = await read('responses', [...whole, complete({ status: status as 'failed' })]);
    const isStopped = status === 'failed' || status === 'cancelled';
    expect([isInterrupted, reply?.isCut]).toEqual(isStopped ? [true, undefined] : [undefined, status === 'incomplete']);
  });

  test('a cancelled answer is an interruption, whatever the event is called', async () => {
    for (const type of ['response.completed', 'response.cancelled']) {
      const last = { ...complete({ status: 'cancelled' }), type };
      expect((await read('responses', [...whole, last])).isInterrupted).toBe(true);
    }
  });

  test.each(ofPurpose('error'))('%s: as documented, and as servers send it', async (_type, schema) => {
    for (const event of examples(schema)) {
      expect((await read('responses', [...whole, event])).error).toEqual({ status: 400, text: 'text' });
      const nested = {
        type: 'error',
        error: { type: 'server_error', code: 'server_error', message: 'text', param: null },
      };
      expect((await read('responses', [...whole, nested])).error).toEqual({ status: 503, text: 'text' });
    }
  });

  test.each(ofPurpose('end'))('%s ends a stream with any well-formed response', async (_type, schema) => {
    for (const event of examples(schema)) {
      const given = event.response as object;
      const { reply, isInterrupted } = await read('responses', [
        ...whole,
        { ...event, response: { ...given, error: null } },
      ]);
      expect([reply?.inputTokens ?? isInterrupted]).not.toEqual([undefined]);
      expect((await read('responses', [event])).error).toEqual({ status: 503, text: 'text' });
    }
  });
});
