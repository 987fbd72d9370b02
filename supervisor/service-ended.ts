import type { Exit } from './service-child.ts'

/** Reasons by exit code, for exits after which a restart would fail in the same way. */
const PERMANENT: Record<number, string> = {
  64: 'it was started with wrong arguments or by a Node that is too old',
  72: 'it is not completely installed',
  73: 'another service uses its data directory',
  74: 'its disk is full or failing',
  78: 'its configuration, key or data cannot be used',
  98: 'its port is in use',
  126: 'its program cannot be executed',
  127: 'its program was not found'
}

/** True if no restart can help after this exit: codes 64 to 98 are the service's own, 126 and 127 mean that the program cannot be run. */
export const isPermanent = ({ code }: Exit): boolean => code !== null && ((code >= 64 && code <= 98) || code === 126 || code === NOT_FOUND)

/** The exit code for a program that was not found, as in shells. */
export const NOT_FOUND = 127
/** The exit code of a service whose port another program has taken. */
export const PORT_TAKEN = 98

/** The service has ended and is not started again. `exit` says how it ended; `log` holds the last lines of its log. */
export class ServiceEnded extends Error {
  readonly exit: Exit
  readonly log: readonly string[]

  constructor (exit: Exit, log: readonly string[], restarts = 0) {
    const { code, signal } = exit
    const how = code === null ? `ended by ${signal}` : `exited with ${code}`
    const reason = code !== null && Object.hasOwn(PERMANENT, code) ? `: ${PERMANENT[code]}` : ''
    const isMissing = code === 126 || code === NOT_FOUND
    const detail = isMissing && log.length > 0 ? ` (${log.at(-1)})` : ''
    super(`The local agent service ${how}${reason}${detail}${restarts > 0 ? `; it was restarted ${restarts} times` : ''}.`)
    this.name = 'ServiceEnded'
    this.exit = exit
    this.log = log
  }
}
