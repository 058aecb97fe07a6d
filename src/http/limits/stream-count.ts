import { AppError } from '../../errors.ts';

/** Streams that one user may have open in one process. */
const maxOfUser = 10;
/** Open streams of all users of this process. Each stream checks its caller's access every 800 ms. */
const maxOfAll = 1000;

const retryLater = { headers: { 'Retry-After': '5' } };
const openOf = new Map<string, number>();
let openOfAll = 0;

/**
 * Counts an open event stream. Call the returned function when the stream ends.
 * @throws AppError 429 over the user's limit, 503 over that of the process
 */
export function countStream(userId: string): () => void {
  const count = openOf.get(userId) ?? 0;
  if (count >= maxOfUser)
    throw new AppError(429, `At most ${maxOfUser} open streams for a user; close one first`, retryLater);
  if (openOfAll >= maxOfAll) throw new AppError(503, 'Too many streams are open; try again later', retryLater);
  openOf.set(userId, count + 1);
  openOfAll += 1;
  return () => {
    const left = (openOf.get(userId) ?? 1) - 1;
    openOfAll -= 1;
    if (left > 0) openOf.set(userId, left);
    else openOf.delete(userId);
  };
}
