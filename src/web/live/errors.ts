/** An error reply of the API, as the generated client throws it. */
interface ErrorReply {
  status: number;
  data?: { message?: string };
}

const isErrorReply = (error: unknown): error is ErrorReply => typeof (error as ErrorReply | null)?.status === 'number';

export const statusOf = (error: unknown): number | undefined => (isErrorReply(error) ? error.status : undefined);

/** Whether the person may not see the resource, or it does not exist, even if an earlier request showed it. */
export const isInaccessible = (error: unknown): boolean => [403, 404].includes(statusOf(error) ?? 0);

/** The message to show for an error. The service's own message is used when there is one. */
export function errorMessage(error: unknown): string {
  if (isErrorReply(error)) {
    if (error.status === 429) return 'Too many requests. Wait a minute and try again.';
    return (
      error.data?.message ??
      `The service replied with status ${error.status}. Try again. If it keeps failing, ask the operator to check the log.`
    );
  }
  if (error instanceof TypeError) return 'The service cannot be reached. Check your connection and try again.';
  return error instanceof Error ? error.message : 'Something went wrong. Try again.';
}
