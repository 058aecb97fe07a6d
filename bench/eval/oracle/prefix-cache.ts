/** Servers cache a prompt in blocks; OpenAI's have 128 tokens, and begin at 1,024. */
const blockTokens = 128;
const fewestTokens = 1024;
const charsPerToken = 4;

/**
 * Returns a function that says how many tokens of a prompt a server would have in its cache: those of the longest
 * beginning that the prompt shares with the one before in the same conversation.
 */
export function prefixCache(): (conversation: string, prompt: string) => number {
  const last = new Map<string, string>();
  return (conversation, prompt) => {
    const before = last.get(conversation) ?? '';
    last.set(conversation, prompt);
    let same = 0;
    while (same < before.length && before[same] === prompt[same]) same++;
    const tokens = Math.floor(same / charsPerToken / blockTokens) * blockTokens;
    return tokens < fewestTokens ? 0 : tokens;
  };
}
