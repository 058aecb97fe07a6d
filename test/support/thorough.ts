/** Whether every case of long tables is tried. `THOROUGH=1 npm test` does it, as CI does every night. */
export const isThorough = process.env.THOROUGH === '1';

/**
 * Declares a test for each case of a table whose cases are much alike and slow. The first `few` are always tried; the
 * others are reported as skipped unless the run is thorough.
 */
export function testSome<Case extends unknown[]>(few: number, cases: Case[]) {
  return (name: string, body: (...given: Case) => Promise<void>, timeoutMs?: number): void => {
    const [always, rest] = [cases.slice(0, few), cases.slice(few)];
    test.each(always)(name, body as never, timeoutMs);
    if (rest.length > 0) (isThorough ? test : test.skip).each(rest)(name, body as never, timeoutMs);
  };
}
