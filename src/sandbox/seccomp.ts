/** Numbers that differ between processors (linux/audit.h, and the system call tables). */
const machines: Record<string, { audit: number; socket: number; keyrings: number[] }> = {
  x64: { audit: 0xc000003e, socket: 41, keyrings: [248, 249, 250] },
  arm64: { audit: 0xc00000b7, socket: 198, keyrings: [217, 218, 219] },
};

/** Allowed socket families: unix, inet, inet6 and netlink. The sandbox's network namespace confines them. */
const families = [1, 2, 10, 16];
const ioUringSetup = 425;
const [noSuchCall, noSuchFamily] = [38, 97];

/**
 * Returns a system call filter for `bwrap --seccomp`, as classic BPF, or undefined for a processor that is not in the
 * table. The filter refuses:
 * - sockets of other families, because a network namespace does not isolate all of them: vsock reaches the host;
 * - keyrings (add_key, request_key, keyctl), because all runs would share the keyring of the service's session;
 * - io_uring, which can open sockets without a system call that the filter sees;
 * - system calls of other architectures (i386, x32), whose numbers differ.
 *
 * See man 2 seccomp and linux/seccomp.h.
 */
export function socketFilter(machine: string = process.arch): Buffer | undefined {
  const known = machines[machine];
  if (known === undefined) return undefined;
  const [load, jumpEqual, jumpAtLeast, answer] = [0x20, 0x15, 0x35, 0x06];
  const [allow, refuse] = [0x7fff0000, 0x00050000];
  const [number, audit, firstArgument] = [0, 4, 16];
  // Each check continues with the next one or jumps to one of the ends, which follow the checks.
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

/** Encodes a `struct sock_filter`. Both processors are little-endian. */
function instruction(code: number, then: number, otherwise: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(then, 2);
  bytes.writeUInt8(otherwise, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}
