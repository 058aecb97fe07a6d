/** The response had this status, which is not a success. */
export class HttpFailed extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`HTTP ${status}`);
    this.status = status;
  }
}

const maxRedirects = 3;

/**
 * Follows up to three redirects to any host, and returns the successful response. `send` sends one request; it checks
 * the address and decides what each host may see.
 * @throws HttpFailed for other responses
 */
export async function followRedirects(from: URL, send: (at: URL) => Promise<Response>): Promise<Response> {
  let at = from;
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const answer = await send(at);
    const location = answer.headers.get('location');
    if (answer.ok) return answer;
    if (answer.status < 300 || answer.status > 399 || location === null) throw new HttpFailed(answer.status);
    if (!URL.canParse(location, at.href)) throw new Error('redirects to an invalid address');
    at = new URL(location, at);
  }
  throw new Error('redirects too often');
}
