import type { Wire } from '../../src/llm/model.ts';
import { converse, key, modelsAt } from './models.ts';
import { openaiChat } from './servers/openai-chat.ts';
import { openaiResponses } from './servers/openai-responses.ts';
import { finalText, usageOf } from './servers/sample.ts';
import { type Fields, type Served, serve, textOf } from './servers/serve.ts';

// Compatible servers stream in ways that the APIs do not describe. The sample conversation succeeds with each of them.
// Where a server is named, it was reported to send such a stream.

type Events = (Fields | string)[];

/** The changes of a stream that both APIs may have. They work on its bytes. */
const ofBytes: Record<string, (text: string) => string> = {
  'CRLF at the ends of lines': (text) => text.replaceAll('\n', '\r\n'),
  'a byte order mark': (text) => `\uFEFF${text}`,
  'comments and empty events between the events': (text) => text.replaceAll('\n\n', '\n\n: ping\n\ndata:\n\n\n'),
  'no space after the colon': (text) => text.replaceAll('data: ', 'data:'),
  'no [DONE]': (text) => text.replace('data: [DONE]\n\n', ''),
  'no empty line at the end': (text) => text.trimEnd(),
};

const choiceOf = (event: Fields | string) =>
  (typeof event === 'string' ? undefined : (event.choices as Fields[])[0]) as
    | { delta: Fields; finish_reason: string | null }
    | undefined;

/** Changes each piece of each call; `isFirst` says whether it begins one. */
function eachCall(events: Events, change: (call: Fields, isFirst: boolean) => Fields): Events {
  for (const event of events) {
    const delta = choiceOf(event)?.delta;
    const calls = delta?.tool_calls as Fields[] | undefined;
    if (delta !== undefined && calls !== undefined)
      delta.tool_calls = calls.map((call) => change(call, call.id !== undefined));
  }
  return events;
}

/** Joins the pieces of each call. */
function wholeCalls(events: Events, change: (call: Fields & { function: Fields }) => Fields): Events {
  let begun: (Fields & { function: Fields }) | undefined;
  const kept = events.filter((event) => {
    const [call] = (choiceOf(event)?.delta.tool_calls ?? []) as (Fields & { function: Fields })[];
    if (call === undefined) return true;
    if (call.id !== undefined) begun = call;
    else if (begun !== undefined) begun.function.arguments = `${begun.function.arguments}${call.function.arguments}`;
    return call.id !== undefined;
  });
  return eachCall(kept, (call) => change(call as Fields & { function: Fields }));
}

let made = 0;
const withoutUsage = (events: Events) => events.filter((event) => typeof event === 'string' || event.usage == null);
const usageIn = (events: Events) => events.map((event) => (event as Fields).usage).find((usage) => usage != null);

const ofChat: Record<string, (events: Events) => Events> = {
  'calls with an index of null': (events) => eachCall(events, (call) => ({ ...call, index: null })),
  'calls without an index': (events) => eachCall(events, ({ index: _, ...call }) => call),
  'an id and a name in each piece, without an index': (events) => {
    let begun: Fields = {};
    return eachCall(events, ({ index: _, ...call }, isFirst) => {
      if (isFirst) begun = call;
      const name = (begun.function as Fields).name;
      return { ...call, id: begun.id, function: { ...(call.function as Fields), name } };
    });
  },
  'another id in each piece': (events) => eachCall(events, (call) => ({ ...call, id: `made-${made++}` })),
  'whole calls without an id and an index': (events) => wholeCalls(events, ({ id: _, index: __, ...call }) => call),
  'whole calls with the same id and index': (events) => wholeCalls(events, (call) => ({ ...call, id: '', index: 0 })),
  'whole calls with arguments that are not text': (events) =>
    wholeCalls(events, (call) => ({
      ...call,
      function: { ...call.function, arguments: JSON.parse(String(call.function.arguments)) },
    })),
  'zeros as usage until the last chunk': (events) => {
    const none = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    return events.map((event) => (typeof event === 'string' ? event : { ...event, usage: event.usage ?? none }));
  },
  'usage on the last chunk with a choice, and zeros after it': (events) => {
    const usage = usageIn(events);
    const zeros = { choices: [], usage: { prompt_tokens: 0, completion_tokens: 0 } };
    const counted = withoutUsage(events).map((event) =>
      typeof event !== 'string' && choiceOf(event)?.finish_reason != null ? { ...event, usage } : event,
    );
    return [...counted.slice(0, -1), zeros, ...counted.slice(-1)];
  },
  'no finish_reason': (events) => {
    for (const event of events) delete (choiceOf(event) as Fields | undefined)?.finish_reason;
    return events;
  },
  'an empty finish_reason until the last chunk': (events) => {
    for (const event of events) {
      const choice = choiceOf(event);
      if (choice?.finish_reason === null) choice.finish_reason = '';
    }
    return events;
  },
  'chunks without choices': (events) =>
    events.flatMap((event) => [{ choices: [] }, { choices: null }, { id: 'x' }, event]),
  // Ollama through LiteLLM, https://github.com/BerriAI/litellm/issues/35663
  'the reason stop after calls': (events) => {
    for (const event of events) {
      const choice = choiceOf(event);
      if (choice?.finish_reason === 'tool_calls') choice.finish_reason = 'stop';
    }
    return events;
  },
  // Older vLLM, https://github.com/InternLM/lmdeploy/issues/3412
  'calls with the same index, and an empty id in their pieces': (events) =>
    eachCall(events, (call, isFirst) => ({ ...call, index: 0, id: isFirst ? call.id : '' })),
  // LiteLLM, https://github.com/BerriAI/litellm/issues/11915
  'null in every field that a piece does not need': (events) => {
    const empty = { content: null, role: null, tool_calls: null, function_call: null, audio: null, refusal: null };
    for (const event of eachCall(events, (call, isFirst) => (isFirst ? call : { ...call, id: null, type: null }))) {
      const choice = choiceOf(event);
      if (choice !== undefined) choice.delta = { ...empty, ...choice.delta };
    }
    return events;
  },
  // LiteLLM before it left the choices out
  'usage in a chunk with an empty choice': (events) =>
    events.map((event) =>
      typeof event !== 'string' && event.usage != null
        ? { ...event, choices: [{ index: 0, delta: {}, finish_reason: null }] }
        : event,
    ),
  // Perplexity, https://github.com/perplexityai/api-discussion/issues/209
  'the whole message in each chunk': (events) => {
    for (const event of events)
      Object.assign(choiceOf(event) ?? {}, { message: { role: 'assistant', content: 'so far' } });
    return events;
  },
  // vmlx, https://github.com/jjang-ai/vmlx/issues/219
  'empty pieces with fields of their own': (events) =>
    events.flatMap((event) => [{ tool_call_generating: true, choices: [{ index: 0, delta: {} }] }, event]),
  'content in parts': (events) => {
    for (const event of events) {
      const delta = choiceOf(event)?.delta;
      if (typeof delta?.content === 'string') delta.content = [{ type: 'text', text: delta.content }];
    }
    return events;
  },
};

const ofType = (type: string) => (event: Fields | string) => (event as Fields).type === type;
const isAbout = (event: Fields, type: string) => (event.item as Fields | undefined)?.type === type;

/** Changes each event and its item. */
const eachEvent = (events: Events, change: (event: Fields, item: Fields | undefined) => Fields) =>
  events.map((event) => change(event as Fields, (event as Fields).item as Fields | undefined));
const withoutLastItems = (events: Events) => ofResponses['no items in the last event']?.(events) ?? [];

const ofResponses: Record<string, (events: Events) => Events> = {
  'no index': (events) => events.map((event) => ({ ...(event as Fields), output_index: undefined })),
  'an index of null': (events) => events.map((event) => ({ ...(event as Fields), output_index: null })),
  'no items in the last event': (events) =>
    events.map((event) => {
      if (!ofType('response.completed')(event)) return event;
      const { response } = event as { response: Fields };
      return { ...(event as Fields), response: { ...response, output: [] } };
    }),
  'no type in the data': (events) =>
    events.map((event) => {
      const { type, ...data } = event as Fields;
      return `event: ${type}\ndata: ${JSON.stringify(data)}`;
    }),
  'calls that are announced but not repeated': (events) =>
    ofResponses['no items in the last event']?.(events).flatMap((event) => {
      const given = event as Fields;
      if (!isAbout(given, 'function_call')) return [given];
      if (given.type !== 'response.output_item.added') return [];
      return [{ ...given, item: { ...(given.item as Fields), arguments: '' } }];
    }) ?? [],
  'text that no item repeats': (events) =>
    ofResponses['no items in the last event']?.(events).filter((event) => !isAbout(event as Fields, 'message')) ?? [],
  // llama.cpp, https://github.com/ggml-org/llama.cpp/pull/18486 and https://github.com/ggml-org/llama.cpp/issues/20607
  'items without an index that are all completed at the end': (events) => {
    const plain = eachEvent(withoutLastItems(events), ({ output_index: _, ...event }, item) => {
      if (item?.type !== 'function_call') return event;
      const { id: __, ...call } = item;
      return { ...event, item: event.type === 'response.output_item.added' ? { ...call, arguments: '' } : call };
    });
    const isDone = ofType('response.output_item.done');
    const others = plain.filter((event) => !isDone(event));
    return [...others.slice(0, -1), ...plain.filter(isDone), ...others.slice(-1)];
  },
  // open-responses-server, https://github.com/teabranch/open-responses-server/pull/63, and LiteLLM,
  // https://github.com/BerriAI/litellm/pull/36375. vLLM repeats an index, https://github.com/vllm-project/vllm/pull/24938
  'the index 0 for all items': (events) =>
    eachEvent(withoutLastItems(events), (event) => ({ ...event, output_index: 0 })),
  // GitHub Copilot, https://github.com/BerriAI/litellm/pull/30072
  'another id of the item in each event': (events) =>
    eachEvent(events, (event, item) => ({
      ...event,
      item_id: `made-${made++}`,
      ...(item === undefined || item.type === 'reasoning' ? {} : { item: { ...item, id: `made-${made++}` } }),
    })),
  // better-ccflare, https://github.com/tombii/better-ccflare/pull/233
  'pieces of text in objects': (events) =>
    eachEvent(events, (event) =>
      ofType('response.output_text.delta')(event)
        ? { ...event, delta: { type: 'output_text', text: event.delta } }
        : event,
    ),
  // gemini-web2api, https://github.com/Sophomoresty/gemini-web2api/pull/57
  'text without pieces': (events) => {
    const isPiece = ofType('response.output_text.delta');
    const first = events.findIndex(isPiece);
    const whole = { type: 'response.output_text.done', output_index: 0, text: finalText };
    return events.flatMap((event, i) => (i === first ? [whole] : isPiece(event) ? [] : [event]));
  },
  // 9router, https://github.com/decolua/9router/issues/3234
  'text that is said to be complete after its first piece': (events) => {
    const first = events.findIndex(ofType('response.output_text.delta'));
    const early = { type: 'response.output_text.done', text: (events[first] as Fields | undefined)?.delta };
    return first < 0 ? events : withoutLastItems(events).toSpliced(first + 1, 0, early);
  },
  'no last event but [DONE]': (events) => [
    ...events.filter((event) => !ofType('response.completed')(event)),
    'data: [DONE]',
  ],
};

let served: Served | undefined;
afterEach(async () => {
  await served?.close();
  served = undefined;
});

/** Runs the sample conversation against a server whose streams are changed. */
async function sample(wire: Wire, change: (events: Events) => string) {
  served = await serve(({ body }) => {
    const answer = (wire === 'chat' ? openaiChat : openaiResponses)(body);
    const text = change(structuredClone(answer.events ?? []) as Events);
    return { headers: { 'content-type': 'text/event-stream' }, json: text };
  });
  let streamed = '';
  const onText = (piece: string) => {
    streamed += piece;
  };
  const replies = await converse(modelsAt(served.url, { api: wire }).withKey('gpt-4o', key), { onText });
  expect(replies.map(({ toolCalls }) => toolCalls.map((call) => `${call.name} ${call.arguments}`))).toEqual([
    ['multiply {"a":6,"b":7}', 'multiply {"a":2,"b":3}'],
    ['add {"a":42,"b":6}'],
    [],
  ]);
  expect([replies.at(-1)?.text, streamed]).toEqual([finalText, finalText]);
  return replies.map(({ inputTokens, outputTokens }) => ({ input: inputTokens, output: outputTokens }));
}

const expected = [0, 1, 2].map(usageOf).map(({ input, output }) => ({ input, output }));
const bytesOf = (events: Events) => events.map(textOf).join('');

test.each(
  Object.keys(ofBytes).flatMap((what) => [['chat', what] as const, ['responses', what] as const]),
)('%s, %s: completes the sample', async (wire, what) => {
  expect(await sample(wire, (events) => ofBytes[what]?.(bytesOf(events)) ?? '')).toEqual(expected);
});

test.each(Object.entries(ofChat))('Chat Completions, %s: completes the sample', async (_what, change) => {
  expect(await sample('chat', (events) => bytesOf(change(events)))).toEqual(expected);
});

test.each(Object.entries(ofResponses))('Responses, %s: completes the sample', async (what, change) => {
  const used = await sample('responses', (events) => bytesOf(change(events)));
  // The usage comes with the last event.
  if (what !== 'no last event but [DONE]') expect(used).toEqual(expected);
});
