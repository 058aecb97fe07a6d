import { RunFailed } from '../domain/run.ts';
import type { ImageRoot } from '../images/images.ts';
import type { Room } from './room.ts';
import type { OpenSecret } from './secrets/operations.ts';

/** An image that stays on this machine until it is released. */
export type HeldImage = ImageRoot & { release(): void };

/** Takes the image that .deckhand.yml names. Returns undefined when it names none. @throws RunFailed `setup` */
export async function takeImage(
  { app, settings, signal, note }: Room,
  secrets: OpenSecret[],
): Promise<HeldImage | undefined> {
  const { image, imageAuth } = settings;
  if (image === undefined || !app.sandbox.state.works) return undefined;
  const auth = imageAuth && {
    username: secretNamed(secrets, imageAuth.username).value,
    password: secretNamed(secrets, imageAuth.password).value,
  };
  // What the pull says is for the log only. If this worker has lost the run, the signal says so.
  return app.images.take(image, auth, signal, (line) => void note('setup', line).catch(() => {}));
}

/** Returns a secret that .deckhand.yml names. @throws RunFailed `setup` when the project lacks it */
export function secretNamed(secrets: OpenSecret[], name: string): OpenSecret {
  const secret = secrets.find((each) => each.name === name);
  if (secret !== undefined) return secret;
  throw new RunFailed(
    'setup',
    `.deckhand.yml names the secret ${name}, which the project does not have; an admin of the project can add it`,
  );
}
