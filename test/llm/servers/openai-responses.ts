import { finalText, nextCalls, usageOf } from './sample.ts';
import { type Answer, type Fields, Refused } from './serve.ts';

const fields = [
  'model',
  'input',
  'instructions',
  'store',
  'include',
  'tools',
  'tool_choice',
  'reasoning',
  'max_output_tokens',
  'stream',
];

function refused(status: number, message: string, param: string | null, code: string | null = null): Refused {
  return new Refused(status, { error: { message, type: 'invalid_request_error', param, code } });
}

/**
 * OpenAI's Responses API, which Azure serves in the same way, as a server that stores nothing.
 * https://platform.openai.com/docs/api-reference/responses/create, https://platform.openai.com/docs/guides/reasoning
 * `gpt-4.1` does not reason: it refuses `reasoning` and encrypted content.
 */
export function openaiResponses(body: Fields): Answer {
  for (const name of Object.keys(body))
    if (!fields.includes(name)) throw refused(400, `Unknown parameter: '${name}'.`, name, 'unknown_parameter');
  const reasons = body.model !== 'gpt-4.1';
  checkOptions(body, reasons);
  checkTools((body.tools ?? []) as Fields[]);
  const input = body.input as Fields[];
  checkCalls(input);
  checkReasoning(input);
  const results = input.filter((item) => item.type === 'function_call_output').length;
  const turn = [0, 1, 1, 2][results] ?? 2;
  return answered(body, output(turn, { reasons, isEncrypted: body.include !== undefined }), turn);
}

function checkOptions(body: Fields, reasons: boolean): void {
  const { effort } = (body.reasoning ?? {}) as { effort?: string };
  if (!reasons && effort !== undefined)
    throw refused(
      400,
      "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
      'reasoning.effort',
      'unsupported_parameter',
    );
  // https://github.com/OpenHands/software-agent-sdk/pull/1208
  if (!reasons && body.include !== undefined)
    throw refused(400, 'Encrypted content is not supported with this model.', 'include');
  // https://github.com/BerriAI/litellm/issues/38084
  if (effort === 'minimal')
    throw refused(
      400,
      "Unsupported value: 'minimal' is not supported with the 'gpt-5.6' model. Supported values are: 'none', 'low', 'medium', 'high', and 'xhigh'.",
      'reasoning.effort',
      'unsupported_value',
    );
  if (typeof body.max_output_tokens === 'number' && body.max_output_tokens < 16)
    throw refused(
      400,
      "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16.",
      'max_output_tokens',
      'integer_below_min_value',
    );
}

/** Functions are strict unless they say otherwise. https://platform.openai.com/docs/guides/migrate-to-responses */
function checkTools(tools: Fields[]): void {
  for (const [i, { type, name, strict, parameters }] of tools.entries()) {
    if (type !== 'function' || typeof name !== 'string')
      throw refused(
        400,
        `Missing required parameter: 'tools[${i}].name'.`,
        `tools[${i}].name`,
        'missing_required_parameter',
      );
    const { properties, required } = parameters as { properties: Fields; required?: string[] };
    const missing = Object.keys(properties).find((property) => !required?.includes(property));
    if (strict !== false && missing !== undefined)
      throw refused(
        400,
        `Invalid schema for function '${name}': In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`,
        `tools[${i}].parameters`,
        'invalid_function_parameters',
      );
  }
}

/** https://community.openai.com/t/no-tool-output-found-for-function-call/1186060 and, for the second, /t/1159243 */
function checkCalls(input: Fields[]): void {
  const calls = input.filter((item) => item.type === 'function_call').map((item) => item.call_id);
  const results = input.filter((item) => item.type === 'function_call_output').map((item) => item.call_id);
  for (const id of calls)
    if (!results.includes(id)) throw refused(400, `No tool output found for function call ${id}.`, 'input');
  for (const id of results)
    if (!calls.includes(id))
      throw refused(400, `No tool call found for function call output with call_id ${id}.`, 'input');
}

/**
 * Reasoning comes back complete, before what it led to, and with its encrypted content.
 * https://github.com/openai/openai-agents-js/issues/546, https://github.com/openai/openai-python/issues/2561,
 * https://github.com/can1357/oh-my-pi/pull/50
 */
function checkReasoning(input: Fields[]): void {
  for (const [i, item] of input.entries()) {
    if (item.type === 'reasoning') checkSealed(item, input[i + 1]);
    // Calls of one turn follow each other; the first one follows its reasoning.
    const before = input.slice(0, i).findLast((each) => each.type !== 'function_call');
    const isAlone = item.type === 'function_call' && item.id !== undefined && before?.type !== 'reasoning';
    const what = `Item '${item.id}' of type 'function_call' was provided without its required 'reasoning' item.`;
    if (isAlone) throw refused(400, what, 'input');
  }
}

function checkSealed({ id, encrypted_content: sealed, summary }: Fields, next: Fields | undefined): void {
  const missing = `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`;
  if (sealed === undefined) throw refused(404, missing, 'input');
  const altered = `The encrypted content for item ${id} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`;
  if (sealed !== `sealed-${id}` || !Array.isArray(summary))
    throw refused(400, altered, null, 'invalid_encrypted_content');
  const alone = `Item '${id}' of type 'reasoning' was provided without its required following item.`;
  if (next?.type !== 'function_call' && next?.type !== 'message') throw refused(400, alone, 'input');
}

function output(turn: number, { reasons, isEncrypted }: { reasons: boolean; isEncrypted: boolean }): Fields[] {
  const id = `rs_${turn}`;
  const sealed = isEncrypted ? { encrypted_content: `sealed-${id}` } : {};
  const reasoning = reasons ? [{ id, type: 'reasoning', summary: [], ...sealed }] : [];
  const calls = nextCalls(turn).map((call) => ({
    ...(reasons ? { id: `fc_${call.id}` } : {}),
    type: 'function_call',
    status: 'completed',
    call_id: call.id,
    name: call.function.name,
    arguments: call.function.arguments,
  }));
  if (calls.length > 0) return [...reasoning, ...calls];
  const content = [{ type: 'output_text', annotations: [], logprobs: [], text: finalText }];
  return [...reasoning, { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content }];
}

function answered(body: Fields, items: Fields[], turn: number): Answer {
  const { input, cached, output: written } = usageOf(turn);
  const response = {
    id: `resp_${turn}`,
    object: 'response',
    status: 'completed',
    error: null,
    incomplete_details: null,
    model: body.model,
    output: items,
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached },
      output_tokens: written,
      output_tokens_details: { reasoning_tokens: 20 },
      total_tokens: input + written,
    },
  };
  if (body.stream !== true) return { json: response };
  const started = { ...response, status: 'in_progress', output: [], usage: null };
  return {
    events: [
      { type: 'response.created', response: started },
      ...items.flatMap((item, output_index) => [
        { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress' } },
        ...deltasOf(item, output_index),
        { type: 'response.output_item.done', output_index, item },
      ]),
      { type: 'response.completed', response },
    ],
  };
}

function deltasOf(item: Fields, output_index: number): object[] {
  if (item.type === 'message')
    return finalText.split(/(?<= )/).map((delta) => ({
      type: 'response.output_text.delta',
      output_index,
      content_index: 0,
      item_id: item.id,
      delta,
    }));
  if (item.type !== 'function_call') return [];
  return [{ type: 'response.function_call_arguments.delta', output_index, delta: item.arguments }];
}
