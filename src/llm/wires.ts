import { chatReply } from './chat/answer.ts';
import { chatRequest, gatherChat } from './chat/completions.ts';
import type { Wire } from './model.ts';
import { responsesReply } from './responses/answer.ts';
import { gatherResponse, responsesRequest } from './responses/responses.ts';
import type { WireFormat } from './wire-format.ts';

/** The setting OPENAI_API. `auto` chooses by the server, and switches when the server refuses the choice. */
export type WireSetting = Wire | 'auto';

export const wires: Record<Wire, WireFormat> = {
  chat: {
    path: '/chat/completions',
    title: 'Chat Completions',
    request: chatRequest,
    replyOf: chatReply,
    gather: gatherChat,
  },
  responses: {
    path: '/responses',
    title: 'Responses',
    request: responsesRequest,
    replyOf: responsesReply,
    gather: gatherResponse,
  },
};

/** Names of the APIs in refusals such as "use /v1/responses". */
const named: Record<Wire, RegExp> = {
  chat: /chat\/completions|chat completions/i,
  responses: /\/responses\b|\bresponses api\b/i,
};

/** Returns whether a text says that the other API must be used. */
export function namesOther(wire: Wire, text: string): boolean {
  return named[other(wire)].test(text);
}

export function other(wire: Wire): Wire {
  return wire === 'chat' ? 'responses' : 'chat';
}

/** OpenAI's own hosts and those of Azure, which serve current models with all features only through Responses. */
const responsesHosts =
  /(^|\.)(openai\.com|openai\.azure\.(com|us|cn)|(services\.ai|cognitiveservices)\.azure\.(com|us|cn))$/;

/** Returns the API to try first. */
export function firstWire(setting: WireSetting, baseUrl: string): Wire {
  if (setting !== 'auto') return setting;
  return responsesHosts.test(new URL(baseUrl).hostname) ? 'responses' : 'chat';
}
