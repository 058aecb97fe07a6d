import type { Proof } from '../../domain/proof/proof.ts';

/** The opening of the message about weakened tests. It is searched for, so that the agent gets the message once. */
export const weakenedOpening = 'The earlier tests fail with your change.';

/** The most files that the text names. */
const maxNamed = 20;

/** Tells the agent that the tests as they were before do not pass with its change. */
export function weakenedText(
  { testsChanged, testsRemoved }: Pick<Proof, 'testsChanged' | 'testsRemoved'>,
  failing: { command: string; output: string } | undefined,
): string {
  const named = [...testsChanged, ...testsRemoved].slice(0, maxNamed).map((path) => path.replace(/\p{Cc}/gu, '?'));
  return [
    `${weakenedOpening} The checks pass only because you changed or removed tests: ${named.join(', ')}.`,
    'If your change breaks what these tests expect, restore the tests and correct the code. If the task asks for the new behaviour, keep both, and say in the summary which expectations changed and why. Then call finish again. People see this as a warning.',
    ...(failing === undefined ? [] : [`With the earlier tests:\n$ ${failing.command}\n${failing.output}`]),
  ].join('\n\n');
}
