import { chatRequest } from '../../src/llm/chat/completions.ts';
import type { Message } from '../../src/llm/model.ts';
import { responsesRequest } from '../../src/llm/responses/responses.ts';
import type { Asked } from '../../src/llm/wire-format.ts';
import { add } from '../llm/servers/sample.ts';
import { type Api, requestChecker } from './model-api.ts';
import { readStatements } from './statements.ts';

// After a run of the tests, all requests that they sent to model servers are checked like this.

const check = requestChecker();
const messages: Message[] = [
  { role: 'system', content: 'You calculate.' },
  { role: 'user', content: 'Read it.', images: [{ mediaType: 'image/png', base64: 'AAAA' }] },
  { role: 'assistant', content: '', toolCalls: [{ id: 'call_1', name: 'add', arguments: '{"a":1}' }] },
  { role: 'tool', toolCallId: 'call_1', content: '2' },
  { role: 'assistant', content: 'Two.', toolCalls: [] },
];
const asked: Asked = { messages, tools: [add], force: 'add', effort: 'xhigh', maxOutputTokens: 300, onText: () => {} };
const requests = {
  responses: { ...responsesRequest('m', asked) },
  chat: { ...chatRequest('m', asked) },
};
const apis: Api[] = ['responses', 'chat'];

test.each(apis)('a request of %s with everything that the service can ask for is valid', (api) => {
  expect(check(api, requests[api])).toEqual([]);
});

test.each([
  ['a field that the API does not have', { efort: 'low' }],
  ['a value that the API does not have', { reasoning_effort: 'most', reasoning: { effort: 'most' } }],
  ['a limit that is no number', { max_completion_tokens: '300', max_output_tokens: '300' }],
  ['tools without a name', { tools: [{ type: 'function', parameters: {}, strict: false, function: {} }] }],
  [
    'messages of an unknown form',
    { messages: [{ role: 'tool', content: '2' }], input: [{ type: 'function_call_output' }] },
  ],
])('%s is a problem', (_what, wrong) => {
  for (const api of apis) expect(check(api, { ...requests[api], ...wrong })).not.toEqual([]);
});

test('declarations are read in the forms that the client library has', () => {
  const text = `
    import { X } from "./x.js";
    export { type Y } from "./y.js";
    /** interface Comment { a: string } */
    export declare class Models extends X { list(query?: { [K in 'a' | 'b']?: never; }): Promise<X<string>>; }
    export interface One extends Base, Other.Inner { readonly id: string; 'quoted-name'?: Array<Two> | null; }
    export declare namespace One { type Two = 'a' | (string & {}); interface Open { [key: string]: unknown; } }
    export interface Generic<T> { value: T }
    export type Last = Record<string, number>[];`;
  const types = readStatements(text);
  expect(Object.fromEntries([...types].map(([name, { schema }]) => [name, schema]))).toEqual({
    One: {
      allOf: [
        { typeName: 'Base' },
        { typeName: 'Other.Inner' },
        {
          type: 'object',
          properties: {
            id: { type: 'string' },
            'quoted-name': { anyOf: [{ type: 'array', items: { typeName: 'Two' } }, { enum: [null] }] },
          },
          required: ['id'],
        },
      ],
    },
    'One.Two': { anyOf: [{ enum: ['a'] }, { type: 'string' }] },
    'One.Open': { type: 'object', additionalProperties: {} },
    Last: { type: 'array', items: { type: 'object', additionalProperties: { type: 'number' } } },
  });
  expect(types.get('One.Two')?.place).toBe('One');
});
