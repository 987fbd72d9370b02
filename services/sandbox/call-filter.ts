// The filter of system calls (seccomp) for boxes. It blocks three things. A socket of AF_VSOCK reaches the host of a virtual machine from
// any network namespace. io_uring opens sockets that no filter sees. A file with the set-user-ID bit would give other users the rights of
// this user.

const AF_VSOCK = 40
const EPERM = 1
const ENOSYS = 38
const EAFNOSUPPORT = 97
/**
 * The numbers of io_uring_setup and openat2, the same on all architectures. The filter reports both as missing, and programs use other
 * calls. The arguments of openat2 are in memory, where no filter sees them.
 */
const MISSING = [425, 437]
const FCHMODAT2 = 452

const SET_USER_ID = 0o4000
const O_CREAT = 0o100
const O_TMPFILE = 0o20000000

/**
 * A system call that sets the mode of a file: its number, the index of its mode argument and, if it creates files by flags, that of its
 * flags.
 */
type ModeCall = [number: number, mode: number, flags?: number]

/** The calls chmod, fchmod, creat, mknod and open, which have the same numbers on i386 and arm. */
const ALIKE: ModeCall[] = [[15, 1], [94, 1], [8, 1], [14, 1], [5, 2, 1]]
/** Numbers of system calls by architecture (linux/audit.h). The arguments of `socketcall` are in memory, where no filter sees them. */
const CALLS: Array<{ arch: number, socket: number, socketcall?: number, modes: ModeCall[] }> = [
  // x86_64, and x32 with a bit set: chmod, fchmod, fchmodat, creat, mknod, mknodat, open, openat
  { arch: 0xc000003e, socket: 41, modes: [[90, 1], [91, 1], [268, 2], [85, 1], [133, 1], [259, 2], [2, 2, 1], [257, 3, 2]] },
  // i386
  { arch: 0x40000003, socket: 359, socketcall: 102, modes: [...ALIKE, [306, 2], [297, 2], [295, 3, 2]] },
  // arm64: fchmod, fchmodat, mknodat, openat
  { arch: 0xc00000b7, socket: 198, modes: [[52, 1], [53, 2], [33, 2], [56, 3, 2]] },
  // arm
  { arch: 0x40000028, socket: 281, socketcall: 102, modes: [...ALIKE, [333, 2], [324, 2], [322, 3, 2]] }
]

/** Byte offsets in struct seccomp_data: of the call number, the architecture, and the low half of an argument (little-endian). */
const FIELD = { number: 0, arch: 4, argument: (index: number) => 16 + index * 8 }
const X32_BIT = 0x40000000

type Instruction = [code: number, jumpIf: number, jumpElse: number, value: number]
const load = (offset: number): Instruction => [0x20, 0, 0, offset]
const and = (mask: number): Instruction => [0x54, 0, 0, mask]
/** Skips the next `count` instructions unless the loaded value is `value`. */
const unless = (value: number, count: number): Instruction => [0x15, 0, count, value]
const fail = (errno: number): Instruction => [0x06, 0, 0, 0x50000 | errno]
const ALLOW: Instruction = [0x06, 0, 0, 0x7fff0000]

/** Returns instructions that run `then` for the call with this number, and skip it for all other calls. */
const forCall = (number: number, then: Instruction[]): Instruction[] => [unless(number, then.length), ...then]

function refuseSetUserId ([number, mode, flags]: ModeCall): Instruction[] {
  return forCall(number, [
    ...flags === undefined ? [] : [load(FIELD.argument(flags)), and(O_CREAT | O_TMPFILE), unless(0, 1), ALLOW],
    ...[load(FIELD.argument(mode)), and(SET_USER_ID), unless(SET_USER_ID, 1), fail(EPERM), ALLOW]
  ])
}

/** Returns the filter for all architectures in CALLS, as the BPF bytecode that the kernel takes. */
export function callFilter (): Buffer {
  const program = CALLS.flatMap(({ arch, socket, socketcall, modes }): Instruction[] => {
    const first = load(FIELD.argument(0))
    const calls = [
      load(FIELD.number),
      and(~X32_BIT >>> 0),
      ...MISSING.flatMap((number) => forCall(number, [fail(ENOSYS)])),
      ...socketcall === undefined ? [] : forCall(socketcall, [first, unless(1, 1), fail(EPERM), ALLOW]),
      ...forCall(socket, [first, unless(AF_VSOCK, 1), fail(EAFNOSUPPORT), ALLOW]),
      ...[...modes, [FCHMODAT2, 2] satisfies ModeCall].flatMap(refuseSetUserId),
      ALLOW
    ]
    return [load(FIELD.arch), unless(arch, calls.length), ...calls]
  })
  const bytes = Buffer.alloc((program.length + 1) * 8)
  for (const [at, [code, jumpIf, jumpElse, value]] of [...program, ALLOW].entries()) {
    bytes.writeUInt16LE(code, at * 8)
    bytes.writeUInt8(jumpIf, at * 8 + 2)
    bytes.writeUInt8(jumpElse, at * 8 + 3)
    bytes.writeUInt32LE(value >>> 0, at * 8 + 4)
  }
  return bytes
}
