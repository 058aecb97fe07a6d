import { type AnswerLimits, boundedFetch } from './bounded-fetch.ts';

/**
 * Limits on the responses of model servers. An agent may be allowed up to 200,000 tokens, about 1 MB of text. JSON may
 * need six bytes for a character, and a stream adds about 250 bytes to each token.
 */
const modelAnswers: Omit<AnswerLimits, 'maxMs'> = {
  maxBytes: 4_000_000,
  maxValues: 100_000,
  events: { maxBytes: 64_000_000, maxEvents: 400_000, maxEventBytes: 1_000_000, maxValues: 10_000 },
};

/**
 * Limits on the responses of GitHub. A page of 100 comments with 65,536 four-byte characters each has 26 MB. GitHub
 * itself aborts a request after 10 s.
 */
const githubAnswers: AnswerLimits = { maxBytes: 32_000_000, maxMs: 20_000 };

/** Returns a `fetch` for a model server, which may take `seconds` for one response. */
export function fetchFromModel(seconds: number): typeof fetch {
  return boundedFetch({ ...modelAnswers, maxMs: seconds * 1000 });
}

export const fetchFromGitHub: typeof fetch = boundedFetch(githubAnswers);
