import { AnswerStalled, refusedAnswer } from '../../errors.ts';
import { whyUnreachable } from '../../host/through-proxy.ts';
import { isFields } from '../merge.ts';
import { ModelFailed, type ModelFault, type Wire } from '../model.ts';
import { Interrupted } from '../wire-format.ts';
import { namesOther, other, type WireSetting, wires } from '../wires.ts';
import { isOutOfCredit, isPage, pageType, type Refusal, refusalOf, textIn } from './refusal.ts';
import { type TooLong, tooLong } from './too-long.ts';

/**
 * Wraps a `fetch` so that every error has the shape that OpenAI's client reads. The client shows only `{ error: … }`;
 * from the lists of Gemini, from vLLM's `{ message }` and from plain text it would keep nothing but the status.
 */
export function withReadableErrors(inner: typeof fetch): typeof fetch {
  return async (input, init) => {
    const answer = await inner(input, init);
    if (answer.ok) return answer;
    const { status, statusText } = answer;
    const headers = new Headers(answer.headers);
    for (const name of ['content-length', 'content-encoding']) headers.delete(name);
    headers.set('content-type', 'application/json');
    return new Response(JSON.stringify({ error: errorIn(await answer.text()) }), { status, statusText, headers });
  };
}

function errorIn(body: string): object {
  if (/^\s*<(?:!doctype html|html|head|body)\b/i.test(body)) return { type: pageType, message: textIn(body) };
  const value = parsed(body);
  const first = Array.isArray(value) ? value[0] : value;
  const fields = isFields(first) && isFields(first.error) ? first.error : isFields(first) ? first : {};
  return { ...fields, message: textIn(value) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Codes with which servers say that they do not know a model. */
const codes =
  /\b(?:model_not_found|model_not_available|model_decommissioned|model_not_supported|unknown_model|invalid_model|DeploymentNotFound)\b/i;

/** How servers say it in words. The names of models contain slashes, colons and dots. */
const phrases: RegExp[] = [
  // OpenAI, vLLM, Groq, Cerebras, xAI: "The model `x` does not exist or you do not have access to it."
  /\bmodel:? (?:with (?:id|name) )?['"`]?[\w./:@-]{1,200}['"`]? (?:does not exist|doesn't exist|was not found|not found|is not found|could not be found|has been (?:decommissioned|deprecated))/i,
  // DeepSeek: "Model Not Exist". DashScope and Fireworks similarly.
  /\bmodel (?:does )?not (?:exist|found)\b/i,
  // OpenRouter: "x is not a valid model ID"
  /is not a valid model(?: id| name| identifier)?\b/i,
  // LiteLLM: "Invalid model name passed in model=x". Mistral: "Invalid model: x". LM Studio: "Invalid model identifier"
  /invalid model(?: name| id| identifier|:| ['"`])/i,
  // GitHub Models: "Unknown model: x"
  /unknown model\b/i,
  // Gemini: "models/x is not found for API version v1main, or is not supported for generateContent."
  /\bmodels\/\S{1,200} is not found/i,
  // Together: "Unable to access model x."
  /unable to access model\b/i,
  // Cloudflare: "No such model x or task"
  /no such model\b/i,
  // Bedrock: "The provided model identifier is invalid."
  /model identifier is invalid/i,
  // Copilot: "The requested model is not supported." Hugging Face names the model.
  /the requested model (?:['"`]?\S{1,200} )?is not (?:supported|available)/i,
  // Anthropic: "model: x" with the type `not_found_error`
  /^model: \S{1,200}$/i,
  // FastAPI: "body.model: Input should be 'x' or 'y'"
  /^body\.model: /i,
];

/** Returns whether a server refused a request because it does not offer the model, with whichever status. */
function isUnknownModel({ status = 0, code, text }: Refusal): boolean {
  if (![400, 404, 422].includes(status)) return false;
  return codes.test(code) || phrases.some((phrase) => phrase.test(text));
}

interface Context {
  wire: Wire;
  setting: WireSetting;
  /** The name of the model, and the host that should know it. */
  model: { name: string; host: string };
  /** Removes the key and other secrets from what a server says. */
  clean: (text: string) => string;
}

/** Characters of a server's message that are shown. */
const maxSaid = 500;

/** Turns a request's error into the failure that people see: what happened, what to change, what the server said. */
export function failureOf(error: unknown, context: Context): ModelFailed {
  if (error instanceof ModelFailed) return new ModelFailed(error.fault, oneLine(context.clean(error.message)), error);
  const tooMuch = refusedAnswer(error);
  if (tooMuch !== undefined)
    return new ModelFailed('model', `the model server's answer ${tooMuch.what}; check OPENAI_BASE_URL`);
  if (error instanceof Interrupted)
    return new ModelFailed(
      'model',
      `${error.message}; try again, and look at the model server's log if it happens again`,
      { isTransient: true },
    );
  if (error instanceof AnswerStalled)
    return new ModelFailed(
      'model',
      `the model server ${error.message}; try again later, or look at its log. If it needs longer pauses, raise MODEL_ANSWER_SECONDS`,
      { isTransient: true },
    );
  if (error instanceof SyntaxError)
    return new ModelFailed('model', "the model server's answer is not JSON; check OPENAI_BASE_URL and OPENAI_API", {
      isTransient: true,
    });
  const refusal = refusalOf(error);
  const [fault, what, isTransient = false] = sentenceFor(refusal, error, context);
  const said = oneLine(context.clean(refusal.text)).slice(0, maxSaid);
  const { retryAfterMs } = refusal;
  return new ModelFailed(fault, said === '' ? what : `${what}. The server said: ${said}`, {
    isTransient,
    retryAfterMs,
  });
}

function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

/** The fault, what happened and what to change, and whether the same request may succeed later. */
type Sentence = [ModelFault, string, boolean?];

function sentenceFor(refusal: Refusal, error: unknown, context: Context): Sentence {
  const { status, text } = refusal;
  const http = `(HTTP ${status})`;
  const long = tooLong(refusal);
  if (long !== undefined) return ['context', tooLongText(long)];
  if (status === undefined && text !== '')
    return ['model', 'the model server failed during its answer; try again later, or look at its log', true];
  if (status === undefined)
    return [
      'model',
      `the model server could not be reached (${whyUnreachable(error)}); check OPENAI_BASE_URL and the network`,
      true,
    ];
  // Waiting does not help here, so unlike other limits this one is not transient.
  if (isOutOfCredit(refusal))
    return [
      'rate_limit',
      `the account at the model server has no credit or quota left ${http}; add credit, or raise the account's limit`,
    ];
  if (status === 408 || status === 409)
    return ['model', `the model server could not answer now ${http}; try again later`, true];
  if (status < 500 && status !== 429 && isPage(refusal)) return ['model', `${pageText} ${http}`];
  if (status === 401 || status === 403 || (status === 400 && isWrongKey.test(text)))
    return [
      'auth',
      `the model server refused the key ${http}; set a key that may use this model, as OPENAI_API_KEY or as the model token of the project`,
    ];
  if (status === 429)
    return [
      'rate_limit',
      `the model server limits the rate ${http}; try again later, or raise the limit at the provider`,
      true,
    ];
  if (status >= 500 && !cannotUseTools.test(text))
    return ['model', `the model server answered with HTTP ${status}; try again later, or look at its log`, true];
  return ['model', `${refused(refusal, context)} ${http}`];
}

function tooLongText({ isBytes }: TooLong): string {
  return isBytes
    ? 'the conversation is larger than the model server or a proxy before it accepts (HTTP 413); raise the size of requests there, or make the task smaller'
    : 'the conversation is longer than the model accepts; use a model with a larger context window, or make the task smaller';
}

/** The API of a model server answers in JSON. */
const pageText =
  'a web page refused the request in place of the model server; check OPENAI_BASE_URL, and the rules of a proxy or firewall before the server';

/** Gemini refuses a wrong key as a bad request: "API key not valid. Please pass a valid API key." */
const isWrongKey = /\bAPI key (?:not valid|is (?:not valid|invalid)|expired)|invalid API key/i;

/** llama.cpp needs `--jinja` for tools. */
const cannotUseTools =
  /requires --jinja|function calling is not (?:enabled|supported)|not support tools|support tool use|tool[- _]?(?:use|call(?:ing|s)?|choice).{0,80}(?:not supported|requires)|tools.{0,40}not supported/i;
const isFiltered =
  /content_filter|(?:content|bio|cyber|misalignment)_policy|content management policy|invalid_prompt|usage polic/i;

/** Says which setting to change after a refusal that a retry cannot fix. */
function refused(refusal: Refusal, { wire, setting, model }: Context): string {
  const { status, code, param, text } = refusal;
  const about = `${param} ${text}`;
  if (isFiltered.test(`${code} ${text}`))
    return "the model server's content filter refused the request; describe the task differently, or use another model";
  if (setting !== 'auto' && namesOther(wire, text))
    return `the model cannot be used through the ${wires[wire].title} API; set OPENAI_API to auto or ${other(wire)}`;
  if (isUnknownModel(refusal))
    return `the model ${model.name} is not offered by ${model.host}; change OPENAI_MODEL or the agent's model`;
  if (cannotUseTools.test(text))
    return 'the model cannot use tools; use a model that can, or enable tools at the server';
  if (/max_(?:completion_|output_)?tokens/.test(about))
    return "the model server refused the length of the answer; change the agent's maxOutputTokens";
  if (/reasoning[_.]effort|reasoning effort/.test(about))
    return "the model server refused the reasoning effort; change the agent's reasoningEffort";
  if (/signature|reasoning_content|encrypted/.test(about))
    return 'the model server refused the reasoning of earlier turns; retry the task, or use another model';
  if (status === 404 || status === 405)
    return "the model server does not know the model or the address; check OPENAI_MODEL or the agent's model, and OPENAI_BASE_URL";
  return 'the model server refused the request; use another model, or check OPENAI_BASE_URL and OPENAI_API';
}
