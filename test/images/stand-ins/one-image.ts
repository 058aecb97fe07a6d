import type { ServerResponse } from 'node:http';
import { type MadeImage, makeImage, smallSystem } from './made-image.ts';
import { imagePlace, type PlaceOptions } from './place.ts';
import type { Instead } from './registry.ts';

/** The image of the registries below, under the name `app:1`. */
export const image = makeImage([smallSystem()]);
export const configDigest = JSON.parse(image.manifest).config.digest as string;

/** Is this a request for a layer, not for the configuration? */
export const isLayer = (path: string) => path.includes('/blobs/') && !path.includes(configDigest);

export const moved = (res: ServerResponse, location: string) => !!res.writeHead(307, { Location: location }).end();

/** Call it once in a test file: opens a place for images of registries that have one image. */
export async function oneImage(what: string) {
  const place = await imagePlace(what);
  const { entriesKept, openImages, serve, take } = place;
  // Nothing half-made is kept.
  afterEach(() => expect(entriesKept()).toEqual([]));

  const registryWith = (made: MadeImage = image, instead?: Instead) => serve({ 'app:1': made }, instead);

  async function takeFrom(
    { host }: { host: string },
    options: PlaceOptions = {},
    more: Parameters<typeof take>[2] = {},
  ) {
    return take(await openImages(options), `${host}/app:1`, more);
  }

  /** Takes an image and removes it again. */
  async function works(...args: Parameters<typeof takeFrom>): Promise<void> {
    const images = await openImages();
    const taken = await takeFrom(...args);
    expect(taken.digest).toBe(image.digest);
    taken.release();
    while ((await images.trim(0)) > 0) await new Promise((resolve) => setImmediate(resolve));
  }

  return { ...place, registryWith, takeFrom, works };
}
