import type { UseQueryResult } from '@tanstack/react-query';

/** An error reply of the API, in the form that the generated client throws. */
interface ErrorReply {
  status: number;
  data?: { message?: string; errors?: { path: string; message: string }[] };
}

const isErrorReply = (error: unknown): error is ErrorReply => typeof (error as ErrorReply | null)?.status === 'number';

export const statusOf = (error: unknown): number | undefined => (isErrorReply(error) ? error.status : undefined);

/** Returns whether the object does not exist or the person may not see it, even if an earlier request showed it. */
export const isInaccessible = (error: unknown): boolean => [403, 404].includes(statusOf(error) ?? 0);

/** How the browsers word a failed request or import. A mistake of ours in a script is a TypeError, too. */
const failedRequest = /fetch|network|load failed|import|connection|input stream/i;

/** Returns whether a request did not reach the service, or its reply did not arrive. */
export const isConnectionError = (error: unknown): boolean =>
  (error instanceof TypeError && failedRequest.test(error.message)) ||
  (error instanceof DOMException && error.name === 'TimeoutError');

/** Returns whether something could not be fetched, because the browser is offline or the request has failed. */
export const isUnread = ({ data, isError, fetchStatus }: Fetched): boolean =>
  data === undefined && (isError || fetchStatus === 'paused');

type Fetched = Pick<UseQueryResult, 'data' | 'isError' | 'fetchStatus'>;

/**
 * Returns the message to show for an error: the service's own message if there is one. `labels` maps the API's names of a
 * form's fields to their labels, because people know the fields by their labels.
 */
export function errorMessage(error: unknown, labels: Record<string, string> = {}): string {
  if (isErrorReply(error)) {
    if (error.status === 429) return 'Too many requests. Wait a minute and try again.';
    return (
      error.data?.errors
        ?.map(({ path, message }) => withOthers(withLabel(message, path, labels[path]), labels))
        .join('; ') ??
      error.data?.message ??
      `The service replied with status ${error.status}. Try again. If it keeps failing, ask the operator to check the log.`
    );
  }
  if (isConnectionError(error))
    return navigator.onLine
      ? 'The service cannot be reached. Check your connection and try again.'
      : 'You are offline, so this was not sent. Try again when the connection is back.';
  return error instanceof Error ? error.message : 'Something went wrong. Try again.';
}

/**
 * Returns what the service says about a field of a form, in a sentence with its label, to show beside the field; undefined if the
 * error is not about it.
 */
export function fieldError(error: unknown, path: string, label: string): string | undefined {
  const found = isErrorReply(error) ? error.data?.errors?.find((each) => each.path === path) : undefined;
  return found && asSentence(withLabel(found.message, path, label));
}

/** Ends a message of the service with a full stop, so that another sentence can follow it. */
export const asSentence = (text: string): string => (text.endsWith('.') ? text : `${text}.`);

/** Returns whether everything that an error says is about these fields, so that it need not be shown elsewhere. */
export function isAboutFields(error: unknown, paths: string[]): boolean {
  const errors = isErrorReply(error) ? (error.data?.errors ?? []) : [];
  return errors.length > 0 && errors.every(({ path }) => paths.includes(path));
}

/** Replaces the names of further fields in a sentence about one of them. */
const withOthers = (message: string, labels: Record<string, string>): string =>
  Object.entries(labels).reduce(
    (text, [path, label]) =>
      text.endsWith(` ${path}`) ? `${text.slice(0, -path.length)}${label.toLowerCase()}` : text,
    message,
  );

/** Replaces the name of a field at the beginning of a sentence about it. */
function withLabel(message: string, path: string, label: string | undefined): string {
  return label !== undefined && message.startsWith(`${path} `) ? `${label}${message.slice(path.length)}` : message;
}
