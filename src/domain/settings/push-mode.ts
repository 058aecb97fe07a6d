/** Whether a change is pushed at once, or after a person approved it. */
export const pushModes = ['free', 'approved'] as const;
export type PushMode = (typeof pushModes)[number];
