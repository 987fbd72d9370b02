/** An invalid command line, environment or standard input; exit code 64 as in sysexits.h. */
export class Usage extends Error {
  readonly exitCode = 64
}
