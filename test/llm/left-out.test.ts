import type { ReplyOptions } from '../../src/llm/model.ts';
import { ask } from './models.ts';
import { error, openServer } from './refusing.ts';

let server: Awaited<ReturnType<typeof openServer>>;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server.close());

const ok = { choices: [{ message: { content: 'fine' }, finish_reason: 'stop' }] };
test.each<[string, ReplyOptions, object, RegExp]>([
  [
    'an effort it does not have',
    { effort: 'xhigh' },
    error(
      "Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model. Supported values are: 'low', 'medium', and 'high'.",
      { param: 'reasoning_effort' },
    ),
    /change the agent's reasoningEffort .*Supported values are/,
  ],
  [
    'an answer that is too long',
    { maxOutputTokens: 200_000 },
    error('max_tokens is too large: 200000. This model supports at most 16384 completion tokens.', {
      param: 'max_tokens',
    }),
    /change the agent's maxOutputTokens .*16384/,
  ],
])('%s is an error, because a person chose it', async (_what, options, json, sentence) => {
  expect((await server.failureOf({ status: 400, json }, options)).message).toMatch(sentence);
});

test('an answer that leaves no room is asked for shorter, once', async () => {
  const model = server.modelAt();
  const seen: unknown[] = [];
  let window = 8000;
  server.behave(({ body }) => {
    seen.push(body.max_completion_tokens);
    window -= 1000;
    return { status: 400, json: error(`This model's maximum context length is ${window} tokens.`) };
  });
  await expect(ask(model, { maxOutputTokens: 200_000 })).rejects.toMatchObject({ fault: 'context' });
  expect([seen, model.window()]).toEqual([[200_000, 1750], 6000]);
});

test('a field that it does not know is left out, and stays out', async () => {
  const model = server.modelAt();
  const seen: string[][] = [];
  server.behave(({ body }) => {
    seen.push(Object.keys(body).filter((name) => /max|effort/.test(name)));
    for (const name of ['max_completion_tokens', 'reasoning_effort', 'max_tokens'])
      if (name in body) return { status: 400, json: error(`Unrecognized request argument supplied: ${name}`) };
    return { json: ok };
  });
  const options = { effort: 'low', maxOutputTokens: 500 } as const;
  await ask(model, options);
  await ask(model, options);
  expect(seen).toEqual([
    ['reasoning_effort', 'max_completion_tokens'],
    ['reasoning_effort', 'max_tokens'],
    ['max_tokens'],
    [],
    [],
  ]);
});

test('a field of earlier answers that it refuses is left out of them', async () => {
  const refusal = error(
    "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning' is unsupported)]",
  );
  server.behave(({ body }) =>
    JSON.stringify(body.messages).includes('"reasoning"') ? { status: 400, json: refusal } : { json: ok },
  );
  const kept = { wire: 'chat' as const, items: { model: 'm', message: { reasoning: 'hm', other: 1 }, calls: {} } };
  const messages = [
    { role: 'user' as const, content: 'a' },
    { role: 'assistant' as const, content: 'b', toolCalls: [], kept },
    { role: 'user' as const, content: 'c' },
  ];
  expect(await ask(server.modelAt(), {}, messages)).toMatchObject({ text: 'fine' });
  expect(server.last()?.body.messages).toContainEqual({ role: 'assistant', content: 'b', other: 1 });
});

// Sentences of OpenRouter, OpenAI, llama.cpp and vLLM.
test.each([
  'No endpoints found that support image input',
  'This model does not support image inputs.',
  'Invalid content type. image_url is only supported by certain models.',
  'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
  'llama-3 is not a multimodal model',
  'At most 0 image(s) may be provided in one request.',
])('images are replaced by a note when it cannot see them: %s', async (message) => {
  let refusals = 0;
  server.behave(({ body }) => {
    if (!JSON.stringify(body).includes('image_url')) return { json: ok };
    refusals += 1;
    return { status: 404, json: { error: { message, code: 404 } } };
  });
  const images = [{ mediaType: 'image/png' as const, base64: 'AAAA' }];
  const model = server.modelAt('auto');
  for (let n = 0; n < 2; n++) await ask(model, {}, [{ role: 'user', content: 'Look', images }]);
  // It is not asked to see them again.
  expect(refusals).toBe(1);
  expect(server.last()).toMatchObject({
    path: '/chat/completions',
    body: { messages: [{ role: 'user', content: expect.stringMatching(/^Look\n\n\[Images left out.*: 1\]$/) }] },
  });
});

// Sentences of OpenAI, Anthropic and vLLM.
test.each([
  "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
  'Could not process image',
  'The image data you provided does not represent a valid image. Please check your input.',
  'cannot identify image file',
  'This model does not support image/gif.',
  'GIF images are not supported by this model',
  "doesn't support more than 5 images",
  'image exceeds 5 MB maximum',
  'At most 1 image(s) may be provided in one request.',
  'Too many images in request',
  'Failed to decode image',
  'The image specified was not valid',
  'At least one of the image dimensions exceed max allowed size: 8000 pixels',
])('one image that it cannot read is left out, and the next one is sent: %s', async (message) => {
  server.behave(({ body }) =>
    JSON.stringify(body).includes('BAAD') ? { status: 400, json: { error: { message, code: 400 } } } : { json: ok },
  );
  const model = server.modelAt('auto');
  const look = (base64: string) =>
    ask(model, {}, [{ role: 'user', content: 'Look', images: [{ mediaType: 'image/gif' as const, base64 }] }]);
  await look('BAAD');
  expect(JSON.stringify(server.last()?.body)).toContain('Images left out');
  await look('AAAA');
  expect(JSON.stringify(server.last()?.body)).toContain('AAAA');
});

test('images are left out of a request that is too large for a proxy, and only then is the conversation too long', async () => {
  const tooLarge = { status: 413, headers: { 'content-type': 'text/html' }, json: '<html>413 Too Large</html>' };
  server.behave(({ body }) => (JSON.stringify(body).includes('image_url') ? tooLarge : { json: ok }));
  const images = [{ mediaType: 'image/png' as const, base64: 'AAAA' }];
  const conversation = [{ role: 'user' as const, content: 'Look', images }];
  const model = server.modelAt();
  expect((await ask(model, {}, conversation)).text).toBe('fine');
  expect(server.last()?.body.messages).toEqual([
    { role: 'user', content: expect.stringMatching(/^Look\n\n\[Images left out.*: 1\]$/) },
  ]);
  // Another request may be smaller, so it is not remembered.
  server.behave(() => ({ json: ok }));
  await ask(model, {}, conversation);
  expect(JSON.stringify(server.last()?.body)).toContain('image_url');
  await expect(server.failureOf(tooLarge)).resolves.toMatchObject({ fault: 'context' });
});

test('reasoning that it cannot read any more is left out once', async () => {
  server.behave(({ body }) =>
    JSON.stringify(body.input).includes('sealed')
      ? {
          status: 400,
          json: error('The encrypted content for item rs_1 could not be verified.', {
            code: 'invalid_encrypted_content',
          }),
        }
      : {
          json: {
            status: 'completed',
            output: [{ type: 'message', content: [{ type: 'output_text', text: 'fine' }] }],
          },
        },
  );
  const output = [
    { type: 'reasoning', id: 'rs_1', encrypted_content: 'sealed', summary: [] },
    { type: 'message', content: [{ type: 'output_text', text: 'b' }] },
  ];
  const kept = { wire: 'responses' as const, items: { model: 'm', output } };
  const messages = [
    { role: 'user' as const, content: 'a' },
    { role: 'assistant' as const, content: 'b', toolCalls: [], kept },
    { role: 'user' as const, content: 'c' },
  ];
  expect(await ask(server.modelAt('responses'), {}, messages)).toMatchObject({ text: 'fine' });
  expect(server.last()?.body.input).toEqual([
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
    { role: 'user', content: 'c' },
  ]);
});
