import { chatAnswer, checkFields, checkPairing, messagesOf, openaiError, openaiFields, toolsOf } from './chat.ts';
import { nextMessage, usageOf } from './sample.ts';
import { type Answer, type Fields, Refused } from './serve.ts';

/**
 * OpenAI's Chat Completions API.
 * - `gpt-5.6`: no tools while it reasons, which it does by default.
 *   https://github.com/openai/openai-openapi/issues/541, https://github.com/laurent22/joplin/pull/16451
 * - `o3`: `max_tokens` is refused. https://platform.openai.com/docs/api-reference/chat/create (max_tokens, deprecated)
 * - `gpt-4o`: `reasoning_effort` is refused. https://github.com/BerriAI/litellm/issues/40470
 */
export function openaiChat(body: Fields): Answer {
  const { model } = body;
  checkFields(body, openaiFields, (name) => openaiError(`Unrecognized request argument supplied: ${name}`));
  if (!['gpt-5.6', 'gpt-4o', 'o3', 'gpt-5.6-pro'].includes(String(model)))
    throw new Refused(404, {
      error: {
        message: `The model \`${model}\` does not exist or you do not have access to it.`,
        type: 'invalid_request_error',
        param: null,
        code: 'model_not_found',
      },
    });
  // https://community.openai.com/t/gpt-5-pro-chat-completions: some models exist only in the other API.
  if (model === 'gpt-5.6-pro')
    throw new Refused(404, {
      error: {
        message: 'This model is only supported in v1/responses and not in v1/chat/completions.',
        type: 'invalid_request_error',
        param: 'model',
        code: null,
      },
    });
  if (model === 'gpt-5.6' && toolsOf(body).length > 0 && body.reasoning_effort !== 'none')
    throw openaiError(
      "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
      'reasoning_effort',
    );
  if (model === 'gpt-4o' && body.reasoning_effort !== undefined)
    throw openaiError('Unrecognized request argument supplied: reasoning_effort');
  if (model === 'o3' && body.max_tokens !== undefined)
    throw openaiError(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      'max_tokens',
    );
  const messages = messagesOf(body);
  checkPairing(messages);
  const turn = messages.filter((m) => m.role === 'assistant').length;
  const { input, cached, output } = usageOf(turn);
  return chatAnswer(body, {
    message: { ...nextMessage(body), refusal: null, annotations: [] },
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 20 },
    },
  });
}
