import { isFields } from '../merge.ts';
import { pageType, textIn } from './refusal.ts';

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
