/**
 * Characters that people cannot see or take for a space: control and format characters, all that programs may ignore in
 * display, such as fillers and variation selectors, and blanks other than the space.
 */
export const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;
