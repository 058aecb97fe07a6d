/** The command was called in a way that cannot work; exit code 2. */
export class UsageError extends Error {}

/** The command could not do what it was asked for; exit code 1. The message says what to do. */
export class CommandFailed extends Error {}
