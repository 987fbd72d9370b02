/** The command line, the environment or standard input makes no sense; exit code 64 as in sysexits.h. */
export class Usage extends Error {
  readonly exitCode = 64
}
