import { type AnswerLimits, boundedFetch } from './bounded-fetch.ts';

/**
 * What one answer of a model server may cost. An agent may be allowed 200,000 tokens, which is about 1 MB of text, and JSON
 * may need six bytes for a character; in a stream each token comes with some 250 bytes around it.
 */
const modelAnswers: Omit<AnswerLimits, 'maxMs'> = {
  maxBytes: 4_000_000,
  maxValues: 100_000,
  events: { maxBytes: 64_000_000, maxEvents: 400_000, maxEventBytes: 1_000_000, maxValues: 10_000 },
};

/**
 * What one answer of GitHub may cost. A page of 100 comments of 65,536 characters, each of four bytes, has 26 MB. GitHub
 * itself gives up on a request after 10 s.
 */
const githubAnswers: AnswerLimits = { maxBytes: 32_000_000, maxMs: 20_000 };

/** `fetch` for a model server, which has so many seconds for an answer. */
export function fetchFromModel(seconds: number): typeof fetch {
  return boundedFetch({ ...modelAnswers, maxMs: seconds * 1000 });
}

export const fetchFromGitHub: typeof fetch = boundedFetch(githubAnswers);
