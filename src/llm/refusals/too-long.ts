import type { Refusal } from './refusal.ts';

/**
 * How servers say that a conversation is longer than the model accepts. A group holds the tokens that fit, where the
 * server says them.
 */
const phrases: RegExp[] = [
  // OpenAI, Azure, DeepSeek, OpenRouter and vLLM. An output limit may be part of the sum.
  /maximum context length (?:is|of) (?:only )?(\d+)/i,
  // vLLM: "You passed … However, the model's context length is only 4096 tokens". LM Studio says it similarly.
  /context length (?:is|of) only (\d+)/i,
  // vLLM: "The decoder prompt (length 5000) is longer than the maximum model length of 4096."
  /longer than the maximum model length of (\d+)/i,
  // SGLang: "The input (5000 tokens) is longer than the model's context length (4096 tokens)." Older ones omit the "'s".
  /longer than the model(?:'s)? context length \((\d+)/i,
  // OpenAI's Responses API: "Input tokens exceed the configured limit of 272000 tokens."
  /exceeds? the configured limit of (\d+)/i,
  /exceeds? the context window/i,
  // llama.cpp: "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it"
  /exceeds? the available context size(?: \((\d+))?/i,
  // llama-cpp-python: "Requested tokens (2285) exceed context window of 2048"
  /exceeds? context window of (\d+)/i,
  // Anthropic: "prompt is too long: 209303 tokens > 200000 maximum", and with max_tokens in the sum
  /prompt is too long: \d+ tokens > (\d+)/i,
  /exceed context limit: \d+ \+ \d+ > (\d+)/i,
  // Gemini: "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576)."
  /exceeds? the maximum number of tokens allowed \((\d+)/i,
  // xAI: "This model's maximum prompt length is 131072 but the request contains 142158 tokens."
  /maximum prompt length is (\d+)/i,
  // Mistral: "Prompt contains 40000 tokens … too large for model with 32768 maximum context length"
  /too large for model with (\d+) maximum context length/i,
  // GitHub Models: "Request body too large for gpt-4o model. Max size: 8000 tokens."
  /too large for \S+ model\. Max size: (\d+) tokens/i,
  // A request that alone exceeds what OpenAI and Groq allow in a minute never passes, however long we wait. The number is
  // a limit of one account, and other accounts use the same model.
  /request too large for .{1,200}tokens per min.{1,40}limit/i,
  // Ollama, where it does not cut the conversation silently. When it has cut away every user message it says the third.
  /input length exceeds (?:the|maximum) context length/i,
  /prompt too long; exceeded (?:max )?context length/i,
  /no user query found in messages/i,
  // LiteLLM names its exception, Bedrock says it in a sentence.
  /ContextWindowExceededError/,
  /input is too long\b/i,
  // Text Generation Inference: "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens"
  /`inputs` (?:tokens \+ `max_new_tokens` )?must (?:have less than|be <=) (\d+)/i,
  // DashScope: "Range of input length should be [1, 30720]"
  /range of input length should be \[\d+, (\d+)\]/i,
  // vLLM forks and gateways
  /exceeds? (?:the )?max_model_len(?: of)? (\d+)/i,
  /exceeds? (?:the )?maximum allowed (?:token )?(?:size|length) (?:of )?(\d+)/i,
  /total tokens must be less than or equal to (\d+)/i,
  /context overflow: \d+ > (\d+)/i,
  /exceeds? the context size(?:, n_ctx = (\d+))?/i,
  /prompt is too long\b/i,
  /\b(?:context_length_exceeded|exceed_context_size_error|request_too_large|tokens_limit_reached)\b/,
];

export interface TooLong {
  /** The tokens that fit, if the server said it. */
  window: number | undefined;
  /** A limit on the size of requests, which a proxy may have set: the words are not about tokens. */
  isBytes: boolean;
}

/** Numbers outside this range are not context windows. */
const [leastWindow, mostWindow] = [256, 100_000_000];

/** Returns what a refusal says about the window, or undefined when it is about something else. */
export function tooLong({ status, code, text, fields }: Refusal): TooLong | undefined {
  const said = `${code} ${text}`.replace(/(\d),(?=\d{3}\b)/g, '$1');
  const found = phrases.map((phrase) => phrase.exec(said)).filter((match) => match !== null);
  if (found.length === 0 && status !== 413) return undefined;
  const window = [fields.n_ctx, ...found.map(([, number]) => number)].map(Number).find(isWindow);
  return { window, isBytes: found.length === 0 };
}

function isWindow(number: number): boolean {
  return Number.isInteger(number) && number >= leastWindow && number <= mostWindow;
}
