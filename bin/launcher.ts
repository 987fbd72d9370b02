import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { runCode, runInput } from '../services/process/run-code.ts'

// The script in the executable of the sidecar archive, which is Node itself. It runs the service files beside it. With the argument
// RUN_INPUT it runs a program from standard input instead: services/process/own-programs.ts starts children of the service this way. Every
// version understands this argument, because an update might replace the executable while the service runs.

/** Set by the build: RUN_INPUT of services/process/own-programs.ts. */
declare const RUN_INPUT: string

const [, , first, ...rest] = process.argv
if (first === RUN_INPUT) {
  const [filename, length, ...args] = rest
  runInput(runCode, filename, length, ...args)
} else {
  const { execPath } = process
  const server = join(dirname(execPath), 'lib/dist/server.js')
  if (existsSync(server)) {
    createRequire(execPath)(server)
  } else {
    process.stderr.write(`local-agent is not completely installed: ${server} is missing. Unpack its archive again.\n`)
    process.exitCode = 72
  }
}
