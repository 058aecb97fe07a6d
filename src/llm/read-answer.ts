import { badAnswer } from './bounds.ts';
import { eventsIn } from './events.ts';
import type { Reply } from './model.ts';
import { textIn } from './refusals/refusal.ts';
import type { Tell, WireFormat } from './wire-format.ts';

/**
 * Reads the answer to a request. It may be a stream or whole, whatever was asked for: some servers cannot stream, and
 * some do nothing else. `tell` receives its pieces as they arrive.
 * @throws ModelFailed, Interrupted or AnswerIsError; SyntaxError for broken JSON
 */
export async function readAnswer(format: WireFormat, model: string, response: Response, tell: Tell): Promise<Reply> {
  const gathered = async (pieces: AsyncIterable<Uint8Array>) =>
    format.replyOf(model, await format.gather(eventsIn(pieces), tell));
  if (response.body !== null && response.headers.get('content-type')?.includes('event-stream'))
    return gathered(response.body);
  const text = await response.text();
  // Some servers name another type, or none.
  if (/^\s*(?:data|event|id|retry)?:/.test(text)) return gathered(onePiece(text));
  const reply = format.replyOf(model, parsed(text));
  if (reply.text !== '') tell.text(reply.text);
  for (const call of reply.toolCalls) tell.call(call.name, call.arguments);
  return reply;
}

async function* onePiece(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** @throws ModelFailed when the answer is not JSON; SyntaxError when it begins like JSON, so that it is repeated */
function parsed(text: string): unknown {
  if (/^\s*[[{]/.test(text)) return JSON.parse(text);
  const said = text.trim() === '' ? 'It was empty' : `The server said: ${textIn(text)}`;
  throw badAnswer(`is neither an event stream nor JSON; check OPENAI_BASE_URL. ${said}`);
}
