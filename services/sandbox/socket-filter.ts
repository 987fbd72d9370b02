// A filter of system calls (seccomp) for boxes. A socket of AF_VSOCK leads to the host of a virtual machine, whatever network it is opened
// in; io_uring opens sockets past every filter.

const AF_VSOCK = 40
const EPERM = 1
const ENOSYS = 38
const EAFNOSUPPORT = 97
/** The number of io_uring_setup, the same on all systems. */
const IO_URING_SETUP = 425

/** Numbers of calls by architecture (linux/audit.h). The arguments of `socketcall` are in memory, where no filter sees them. */
const CALLS = [
  { arch: 0xc000003e, socket: 41 }, // x86_64, and x32 with a bit set
  { arch: 0x40000003, socket: 359, socketcall: 102 }, // i386
  { arch: 0xc00000b7, socket: 198 }, // arm64
  { arch: 0x40000028, socket: 281, socketcall: 102 } // arm
]

/** A field of struct seccomp_data: number of the call, architecture, low half of the first argument (little-endian). */
const FIELD = { number: 0, arch: 4, first: 16 }
const X32_BIT = 0x40000000

type Instruction = [code: number, jumpIf: number, jumpElse: number, value: number]
const load = (offset: number): Instruction => [0x20, 0, 0, offset]
const and = (mask: number): Instruction => [0x54, 0, 0, mask]
/** Skips `count` instructions unless the value is this one. */
const unless = (value: number, count: number): Instruction => [0x15, 0, count, value]
const fail = (errno: number): Instruction => [0x06, 0, 0, 0x50000 | errno]
const ALLOW: Instruction = [0x06, 0, 0, 0x7fff0000]

/** Returns the filter in the form that the kernel takes (BPF), for all of these architectures. */
export function socketFilter (): Buffer {
  const program = CALLS.flatMap(({ arch, socket, socketcall }): Instruction[] => {
    const calls = [
      load(FIELD.number),
      and(~X32_BIT >>> 0),
      unless(IO_URING_SETUP, 1),
      fail(ENOSYS),
      ...socketcall === undefined ? [] : [unless(socketcall, 4), load(FIELD.first), unless(1, 1), fail(EPERM), ALLOW],
      unless(socket, 3),
      load(FIELD.first),
      unless(AF_VSOCK, 1),
      fail(EAFNOSUPPORT),
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
