/**
 * Characters that people cannot see or take for a space: control and format characters, all that programs may ignore in
 * display, such as fillers and variation selectors, and blanks other than the space.
 */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;

/** Writes invisible characters as the escapes that YAML has within quotation marks. */
export function escapeInvisible(text: string): string {
  return text.replace(invisible, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
    return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
  });
}
