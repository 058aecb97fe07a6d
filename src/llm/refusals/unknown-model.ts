import type { Refusal } from './refusal.ts';

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
export function isUnknownModel({ status = 0, code, text }: Refusal): boolean {
  if (![400, 404, 422].includes(status)) return false;
  return codes.test(code) || phrases.some((phrase) => phrase.test(text));
}
