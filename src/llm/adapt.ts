import type { Message } from './model.ts';
import type { Refusal } from './refusals/refusal.ts';
import type { Asked } from './wire-format.ts';

/** Fields of requests without which a model can still answer. Each is left out once a server has refused it. */
const optional = [
  'reasoning_effort',
  'reasoning',
  'max_completion_tokens',
  'max_tokens',
  'max_output_tokens',
  'stream_options',
  'tool_choice',
  'include',
  'store',
];

/** How servers say that they do not know a field. */
const unknown =
  /unsupported|not (?:currently )?support|n.t support|unknown|unrecogni[sz]ed|unexpected|extra (?:inputs|fields)|not (?:permitted|allowed)|(?:should|must|may|can) ?not|additional propert/i;

/** They know the field, but not this value. A person chose it, so it is not left out silently. */
const isAboutValue =
  /supported (?:string )?values|too (?:large|small|high|low)|must be|at (?:most|least)|maximum|minimum/i;

/** The server cannot use reasoning that it wrote earlier, for example because another account or model wrote it. */
const isAboutKept =
  /invalid_encrypted_content|encrypted content[^.]{0,100}could not be|item with id \S{1,200} not found|without its required|invalid[^.]{0,40}signature/i;

const isAboutImages = /image|vision|multi-?modal|modalit/i;
const cannotSee =
  /support|at most 0|no endpoints|not a multi|mmproj|only text|cannot|invalid|exceed|too (?:many|large)/i;
/** Servers say these things of a model that sees no images, and never of one image, which may be damaged, animated or too large. */
const isOfModel =
  /support(?:s|ed)? (?:image|vision|multi-?modal)[\s-]?(?:input|content|modalit)|support (?:images|vision)\s*(?:[.,;]|$)|image input (?:is|are) not supported|image_url is only supported|not a multi-?modal|mmproj|only text|at most 0 image/i;

/** Returns whether a server refused images because the model cannot see any, and not for what one of them is like. */
export const isBlind = ({ text }: Refusal) => isOfModel.test(text);

type Body = Record<string, unknown>;

/**
 * Returns what to leave out so that the server accepts the request, or undefined when nothing can be left out. `kept`
 * means what earlier answers carried with them.
 */
export function toLeaveOut(refusal: Refusal, body: Body, messages: Message[]): string | undefined {
  const { status = 0, code, text } = refusal;
  if (status < 400 || [401, 403, 429].includes(status)) return undefined;
  if (messages.some(hasKept) && isAboutKept.test(`${code} ${text}`)) return 'kept';
  // Whatever is wrong with them: another request without them costs less than a run that fails.
  const isAboutThem = isAboutImages.test(text) && ([400, 422].includes(status) || cannotSee.test(text));
  if (isAboutThem && messages.some(hasImages)) return 'images';
  const named = optional.find((field) => field in body && isNamed(refusal, field));
  if (named === 'tool_choice') return named;
  if (!unknown.test(text)) return undefined;
  if (named !== undefined) return isAboutValue.test(text) ? undefined : named;
  return fieldsOfMessages(body).find((field) => isNamed(refusal, field.slice('messages.'.length)));
}

/** Names without an underscore are ordinary words, so they count only as the refused parameter or in quotes. */
function isNamed({ param, text }: Refusal, field: string): boolean {
  if (param === field || param.startsWith(`${field}.`)) return true;
  const name = field.replace(/[^\w-]/g, '.');
  return new RegExp(field.includes('_') ? `\\b${name}\\b` : `['"\`[.]${name}['"\`\\].]`).test(text);
}

function fieldsOfMessages({ messages }: Body): string[] {
  const fields = new Set<string>();
  for (const message of Array.isArray(messages) ? (messages as Body[]) : [])
    if (message.role === 'assistant')
      for (const each of [message, ...callsOf(message)]) for (const name of Object.keys(each)) fields.add(name);
  for (const name of ['role', 'content', 'tool_calls', 'id', 'type', 'function']) fields.delete(name);
  return [...fields].map((name) => `messages.${name}`);
}

function callsOf({ tool_calls: calls }: Body): Body[] {
  return Array.isArray(calls) ? calls : [];
}

/** Leaves out what the server has refused. */
export function withoutRefused(body: Body, refused: Set<string>): Body {
  if (refused.size === 0) return body;
  const left = Object.fromEntries(Object.entries(body).filter(([name]) => !refused.has(name)));
  // Older servers know the limit of an answer only by its former name.
  const limit = body.max_completion_tokens;
  if (limit !== undefined && refused.has('max_completion_tokens') && !refused.has('max_tokens'))
    left.max_tokens = limit;
  if (Array.isArray(left.messages)) left.messages = (left.messages as Body[]).map((each) => stripped(each, refused));
  return left;
}

function stripped(message: Body, refused: Set<string>): Body {
  if (message.role !== 'assistant') return message;
  const strip = (fields: Body) =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => !refused.has(`messages.${name}`)));
  const calls = message.tool_calls === undefined ? {} : { tool_calls: callsOf(message).map(strip) };
  return { ...strip(message), ...calls };
}

const hasKept = (message: Message) => message.role === 'assistant' && message.kept !== undefined;
export const hasImages = (message: Message) => message.role === 'user' && (message.images?.length ?? 0) > 0;

/** Returns the request without images, or without what earlier answers carried with them, if these were refused. */
export function withoutParts(asked: Asked, refused: Set<string>): Asked {
  const messages = asked.messages.map((message): Message => {
    if (refused.has('kept') && message.role === 'assistant') {
      const { kept: _, ...plain } = message;
      return plain;
    }
    if (!refused.has('images') || message.role !== 'user' || !hasImages(message)) return message;
    const note = `[Images left out, because the model server does not accept them: ${message.images?.length}]`;
    return { role: 'user', content: `${message.content}\n\n${note}` };
  });
  return { ...asked, messages };
}
