import { parseArgs } from 'node:util';

const usage = `npm run demo             plays a tour, and keeps the service running for you to try
npm run demo -- --once   ends after the tour`;

/**
 * Returns whether the demo ends after its tour.
 * @throws Error with the usage when the arguments are not known
 */
export function endsAfterTour(args: string[]): boolean {
  try {
    return parseArgs({ args, options: { once: { type: 'boolean', default: false } } }).values.once;
  } catch {
    throw new Error(`The demo has no option ${args.filter((arg) => arg !== '--once').join(' ')}.\n\n${usage}`);
  }
}
