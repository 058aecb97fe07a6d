/** A sequence of random numbers that is the same for the same seed, so that the same data give the same forecast. */
export interface Random {
  /** Returns a number between 0 and 1, both excluded. */
  uniform(): number;
  /** Returns a number of the standard normal distribution. */
  normal(): number;
}

/** Creates a sequence. The generator is sfc32, its seed an FNV-1a hash of the text. Not for secrets. */
export function seededRandom(seed: string): Random {
  let [a, b, c, counter] = [hash(seed, 0), hash(seed, 1), hash(seed, 2), 1];
  const uniform = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return ((sum >>> 0) + 0.5) / 2 ** 32;
  };
  // The first numbers still resemble the seed.
  for (let i = 0; i < 12; i++) uniform();
  let spare: number | undefined;
  const normal = (): number => {
    if (spare !== undefined) {
      const value = spare;
      spare = undefined;
      return value;
    }
    const radius = Math.sqrt(-2 * Math.log(uniform()));
    const angle = 2 * Math.PI * uniform();
    spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  };
  return { uniform, normal };
}

function hash(text: string, salt: number): number {
  let value = 0x811c9dc5 ^ salt;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value;
}
