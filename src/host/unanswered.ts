import type { ClientRequest } from 'node:http';

/** The most responses such as `103 Early Hints` before the real one. Servers send one or two. */
const maxInformational = 20;

/**
 * Calls `fail` when a request ends without a response. Node emits neither `response` nor `error` when a server switches to
 * another protocol (101) that nobody asked for, only `close`. A request with too many informational responses is destroyed.
 * After a response, `fail` is called as well, which a settled promise ignores.
 */
export function whenUnanswered(sent: ClientRequest, fail: (error: Error) => void): void {
  let informational = 0;
  sent.on('information', () => {
    informational += 1;
    if (informational > maxInformational)
      sent.destroy(new Error('the server sent informational responses without end'));
  });
  sent.once('close', () => fail(new Error('the server closed the connection without a response')));
}
