/**
 * Returns the median time of five calls in ms, because the machine may be busy during one or two of them. `act` gets
 * the number of the call, from 0.
 */
export async function usualTime(act: (nth: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let nth = 0; nth < 5; nth++) {
    const began = performance.now();
    await act(nth);
    times.push(performance.now() - began);
  }
  return times.sort((a, b) => a - b)[2] ?? 0;
}
