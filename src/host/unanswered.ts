import type { ClientRequest } from 'node:http';

/** A server went on to send what is no answer. */
export class EndlessPreface extends Error {
  constructor(what: string) {
    super(`the server sent ${what} without end`);
    this.name = 'EndlessPreface';
  }
}

/** The most responses such as `103 Early Hints` before the real one. Servers send one or two. */
const maxInformational = 20;

/** The most session tickets of TLS before a response. Servers send up to four. */
const maxTickets = 50;

/**
 * Calls `fail` when a request ends without a response. Node emits neither `response` nor `error` when a server switches to
 * another protocol (101) that nobody asked for, only `close`. A request is destroyed with `EndlessPreface` when the server sends
 * informational responses or session tickets without end, which no limit of bytes counts. After a response, `fail` is called as well, which a settled
 * promise ignores.
 */
export function whenUnanswered(sent: ClientRequest, fail: (error: Error) => void): void {
  const upTo = (most: number, what: string) => {
    let count = 0;
    return () => {
      count += 1;
      if (count > most) sent.destroy(new EndlessPreface(what));
    };
  };
  sent.on('information', upTo(maxInformational, 'informational responses'));
  sent.once('socket', (socket) => {
    const onSession = upTo(maxTickets, 'session tickets');
    socket.on('session', onSession);
    // The socket may be used for further requests.
    sent.once('close', () => socket.off('session', onSession));
  });
  sent.once('close', () => fail(new Error('the server closed the connection without a response')));
}
