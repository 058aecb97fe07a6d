/** What differs between the processors that we know (linux/audit.h, and the tables of system calls). */
const machines: Record<string, { audit: number; socket: number; keyrings: number[] }> = {
  x64: { audit: 0xc000003e, socket: 41, keyrings: [248, 249, 250] },
  arm64: { audit: 0xc00000b7, socket: 198, keyrings: [217, 218, 219] },
};

/** unix, inet, inet6 and netlink; inside there is no network for them to reach. */
const families = [1, 2, 10, 16];
const ioUringSetup = 425;
const [noSuchCall, noSuchFamily] = [38, 97];

/**
 * A filter of system calls for `bwrap --seccomp`, as the kernel's classic BPF; undefined for a processor that we do not
 * know. A network namespace does not hold back every kind of socket: those of virtual machines (vsock) reach the host
 * whatever the namespace. Keyrings go (add_key, request_key, keyctl), because that of the service's session would be shared
 * with every run. io_uring goes, because it makes sockets past any filter; so do calls of other processors' kinds
 * (i386, x32), which have other numbers. (man 2 seccomp; linux/seccomp.h)
 */
export function socketFilter(machine: string = process.arch): Buffer | undefined {
  const known = machines[machine];
  if (known === undefined) return undefined;
  const [load, jumpEqual, jumpAtLeast, answer] = [0x20, 0x15, 0x35, 0x06];
  const [allow, refuse] = [0x7fff0000, 0x00050000];
  const [number, audit, firstArgument] = [0, 4, 16];
  // How many instructions further the three ends are, counted from the last of the checks.
  const checks: [code: number, value: number, then: End | 'next', otherwise: End | 'next'][] = [
    [load, audit, 'next', 'next'],
    [jumpEqual, known.audit, 'next', 'noCall'],
    [load, number, 'next', 'next'],
    [jumpAtLeast, 0x40000000, 'noCall', 'next'],
    [jumpEqual, ioUringSetup, 'noCall', 'next'],
    ...known.keyrings.map((call): (typeof checks)[number] => [jumpEqual, call, 'noCall', 'next']),
    [jumpEqual, known.socket, 'next', 'allowed'],
    [load, firstArgument, 'next', 'next'],
    ...families.map((family): (typeof checks)[number] => [jumpEqual, family, 'allowed', 'next']),
  ];
  const ends: [End, number][] = [
    ['noFamily', refuse | noSuchFamily],
    ['allowed', allow],
    ['noCall', refuse | noSuchCall],
  ];
  const jump = (at: number, to: End | 'next') =>
    to === 'next' ? 0 : checks.length - at - 1 + ends.findIndex(([name]) => name === to);
  return Buffer.concat([
    ...checks.map(([code, value, then, otherwise], at) =>
      instruction(code, code === load ? 0 : jump(at, then), code === load ? 0 : jump(at, otherwise), value),
    ),
    ...ends.map(([, value]) => instruction(answer, 0, 0, value)),
  ]);
}

type End = 'noFamily' | 'allowed' | 'noCall';

/** `struct sock_filter`; both machines are little-endian. */
function instruction(code: number, then: number, otherwise: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(then, 2);
  bytes.writeUInt8(otherwise, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}
