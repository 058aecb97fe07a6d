import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { readModelApi } from './model-api.ts';
import { noteEvents } from './model-records.ts';
import { openReader, seen } from './reading.ts';

// The types of the client library describe the API. The reader of streams gets chunks with each field that they have.

const { declarations, typeIn } = readModelApi();
const { read, examples, counts } = openReader(declarations);
afterAll(() => noteEvents('chat', counts()));

const counted = { inputTokens: 100, cachedInputTokens: 40, cacheWriteTokens: 50, outputTokens: 30 };

type Delta = ChatCompletionChunk.Choice.Delta;

/** What the service does with a field of a delta. A new version of the library may have more; then this is a type error. */
const deltaFields: Record<keyof Delta, 'text' | 'refusal' | 'call' | 'ignored'> = {
  content: 'text',
  refusal: 'refusal',
  tool_calls: 'call',
  function_call: 'call',
  role: 'ignored',
  // The service asks for text only.
  audio: 'ignored',
};

function chunk(delta: Delta, more: Partial<ChatCompletionChunk.Choice> = {}): ChatCompletionChunk {
  const choices = [{ index: 0, delta, finish_reason: null, logprobs: null, ...more }];
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices, usage: null };
}
const part = (index: number, id: string | undefined, name: string | undefined, piece: string) => ({
  index,
  ...(id === undefined ? {} : { id, type: 'function' as const }),
  function: { ...(name === undefined ? {} : { name }), arguments: piece },
});
const pieces: ChatCompletionChunk[] = [
  chunk({ role: 'assistant', content: '', refusal: null }),
  chunk({ content: 'One ' }),
  chunk({ content: 'two' }),
  chunk({ tool_calls: [part(0, 'call_1', 'add', '')] }),
  chunk({ tool_calls: [part(0, undefined, undefined, '{"a"')] }),
  chunk({ tool_calls: [part(1, 'call_2', 'add', '')] }),
  // Pieces of several calls may alternate, also within one chunk.
  chunk({ tool_calls: [part(1, undefined, undefined, '{"b"'), part(0, undefined, undefined, ':1}')] }),
  chunk({ tool_calls: [part(1, undefined, undefined, ':2}')] }),
];
const finish = (finish_reason: ChatCompletionChunk.Choice['finish_reason']) => chunk({}, { finish_reason });
const chatUsage: ChatCompletionChunk = {
  ...chunk({}),
  choices: [],
  usage: {
    prompt_tokens: 100,
    completion_tokens: 30,
    total_tokens: 130,
    prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 50 },
    completion_tokens_details: { reasoning_tokens: 10 },
  },
};
const done = 'data: [DONE]';
const chatExpected = {
  text: 'One two',
  calls: 'add:{"a";add:{"b";add::1};add::2};',
  toolCalls: [
    { id: 'call_1', name: 'add', arguments: '{"a":1}' },
    { id: 'call_2', name: 'add', arguments: '{"b":2}' },
  ],
  isCut: false,
  ...counted,
};

describe('Chat Completions', () => {
  const choice = typeIn('chat', 'ChatCompletionChunk.Choice');
  const delta = typeIn('chat', 'ChatCompletionChunk.Choice.Delta');

  test('every field of a delta has a purpose here', () => {
    expect(Object.keys(declarations.fields(delta)).sort()).toEqual(Object.keys(deltaFields).sort());
  });

  test('a stream is read whole: a role alone, text, calls by index, the reason, and usage without choices', async () => {
    expect(seen(await read('chat', [...pieces, finish('tool_calls'), chatUsage, done]))).toEqual(chatExpected);
  });

  test.each(
    Object.entries(deltaFields).filter(([, purpose]) => purpose === 'ignored'),
  )('the field %s changes nothing, alone and everywhere in a stream', async (field) => {
    for (const value of examples(declarations.fields(delta)[field])) {
      const event = chunk({ [field]: value });
      expect(await read('chat', [event])).toEqual({ text: '', calls: '', isInterrupted: true });
      const everywhere = [...pieces, finish('tool_calls'), chatUsage].flatMap((each) => [event, each, event]);
      expect(seen(await read('chat', [...everywhere, done]))).toEqual(chatExpected);
    }
  });

  test('any well-formed chunk is read, also one with every field', async () => {
    for (const each of examples(typeIn('chat', 'ChatCompletionChunk'))) {
      const { text, isInterrupted, reply } = await read('chat', [each]);
      const isFull = (each.choices as unknown[]).length > 0;
      expect([text, isInterrupted, reply?.toolCalls.length]).toEqual(
        isFull ? ['text', undefined, 1] : ['', true, undefined],
      );
    }
  });

  test('a refusal in pieces is a failure with its text', async () => {
    const { failure, text } = await read('chat', [
      chunk({ refusal: 'I ' }),
      chunk({ refusal: 'will not.' }),
      finish('stop'),
    ]);
    expect([failure, text]).toEqual([
      expect.stringMatching(/the model refused to answer.* It said: I will not\.$/),
      '',
    ]);
  });

  test.each(
    declarations.values(declarations.fields(choice).finish_reason),
  )('the reason to finish %s', async (reason) => {
    const stream = [...pieces, finish(reason as 'stop'), chatUsage, done];
    const answer = await read('chat', stream);
    if (reason === 'content_filter') expect(answer.failure).toMatch(/content filter stopped the answer/);
    else expect(seen(answer)).toEqual({ ...chatExpected, isCut: reason === 'length' });
  });

  test('without a reason and without [DONE] the answer is not complete', async () => {
    expect((await read('chat', [...pieces, chatUsage])).isInterrupted).toBe(true);
  });

  test('a call in the field function_call is read if there is no other', async () => {
    const legacy = [
      chunk({ role: 'assistant', content: null, function_call: { name: 'add', arguments: '' } }),
      chunk({ function_call: { arguments: '{"a"' } }),
      chunk({ function_call: { arguments: ':1}' } }),
    ];
    const { reply, calls } = await read('chat', [...legacy, finish('function_call'), chatUsage, done]);
    expect(reply).toMatchObject({
      toolCalls: [{ id: expect.stringMatching(/^call_/), name: 'add', arguments: '{"a":1}' }],
    });
    expect(calls).toBe('add:{"a";add::1};');
    const both = await read('chat', [...pieces, ...legacy, finish('tool_calls'), chatUsage, done]);
    expect(both.reply?.toolCalls).toEqual(chatExpected.toolCalls);
  });

  test('calls of custom tools, which nobody offered, are left out', async () => {
    const custom = { index: 0, id: 'call_3', type: 'custom' as const, custom: { name: 'shell', input: 'ls' } };
    const { reply } = await read('chat', [chunk({ content: 'One two', tool_calls: [custom] }), finish('stop'), done]);
    expect([reply?.text, reply?.toolCalls]).toEqual(['One two', []]);
  });
});
