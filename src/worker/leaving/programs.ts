/** How compiled programs and libraries begin, written as latin1. The file formats are those of file(1). */
const beginnings: [string, string][] = [
  ['\x7fELF', 'a program for Linux (ELF)'],
  ['\xfe\xed\xfa\xce', 'a program for macOS (Mach-O)'],
  ['\xfe\xed\xfa\xcf', 'a program for macOS (Mach-O)'],
  ['\xce\xfa\xed\xfe', 'a program for macOS (Mach-O)'],
  ['\xcf\xfa\xed\xfe', 'a program for macOS (Mach-O)'],
  // Universal Mach-O files and classes of Java share these bytes.
  ['\xca\xfe\xba\xbe', 'a program (Mach-O or Java)'],
  ['\xca\xfe\xba\xbf', 'a program for macOS (Mach-O)'],
  ['\0asm', 'a program (WebAssembly)'],
  ['dex\n', 'a program for Android (DEX)'],
  ['BC\xc0\xde', 'compiled code (LLVM)'],
  ['!<arch>\n', 'a library or a package of programs (ar)'],
];

/** Names of files that are run or loaded as they are, also where their contents are a ZIP archive or have no fixed beginning. */
const programName =
  /\.(exe|dll|com|scr|sys|msi|so|dylib|node|jar|war|ear|class|apk|aab|ipa|dmg|deb|rpm|appimage|py[cdo])$/i;

/** How many first bytes decide whether a file is binary, as in git. */
const lookedAt = 8000;

/**
 * Says what kind of program a binary file is; undefined for pictures, archives and other data, and for text such as scripts.
 * Archives are not opened.
 */
export function programIn(bytes: Uint8Array, { path, mode }: { path: string; mode: string }): string | undefined {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, lookedAt));
  const text = start.toString('latin1');
  const known = beginnings.find(([beginning]) => text.startsWith(beginning));
  if (known !== undefined) return known[1];
  if (!start.includes(0)) return undefined;
  // Text may begin with these two letters, too.
  if (text.startsWith('MZ')) return 'a program for Windows (PE)';
  if (mode === '100755') return 'a binary file with the permission to execute it';
  return programName.test(path) ? 'a program by its name' : undefined;
}
