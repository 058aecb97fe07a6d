/** How long a model reasons before it answers, from least to most. A model may support only some of them. */
export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;
export type ReasoningEffort = (typeof reasoningEfforts)[number];

/** Limits for the answers of an agent's model, in tokens. */
export const leastOutputTokens = 256;
export const mostOutputTokens = 200_000;
