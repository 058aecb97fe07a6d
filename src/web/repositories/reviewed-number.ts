/** Returns the number of a pull request that a person typed: `12`, `#12` or its address. Undefined if it is none. */
export function numberOfPull(text: string): string | undefined {
  return /^(?:#|https?:\/\/\S+\/pull\/)?([1-9]\d{0,8})$/.exec(text.trim())?.[1];
}
