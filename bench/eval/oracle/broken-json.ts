import { choice } from './chance.ts';

const breaks: [(json: string) => string, ...((json: string) => string)[]] = [
  /** The closing brace is missing. */
  (json) => json.slice(0, -1),
  /** A comma after the last member. */
  (json) => `${json.slice(0, -1)},}`,
  /** Line breaks stand in strings as they are. */
  (json) => (json.includes('\\n') ? json.replaceAll('\\n', '\n') : `${json.slice(0, -1)},}`),
  /** Words before the object. */
  (json) => `Here are the arguments: ${json}`,
  /** The text ends within a string. */
  (json) => json.slice(0, Math.max(1, Math.floor(json.length * 0.6))),
];

/** Returns arguments as a model writes them when it errs in the syntax. */
export function brokenJson(json: string, key: string): string {
  return choice(breaks, 'broken', key)(json);
}
