import type { Clock } from '../lib/clock.ts'
import type { Redactor } from '../lib/secrets.ts'

type Level = 'debug' | 'info' | 'warn' | 'error'

/** The functions of the service's log that are used for tool servers. */
export interface Log extends Record<Level, (details: object, message: string) => void> {
  /** The lowest level that is logged. */
  readonly level?: string
}

/** The most messages of one server that are logged in a minute. */
const MOST_PER_MINUTE = 60
const MINUTE_MS = 60_000
const LONGEST_TEXT = 2_000
const LONGEST_LOGGER = 100

/** The log levels of MCP, which are those of syslog (RFC 5424), and the levels of our log that they become. */
const LEVELS = new Map<unknown, Level>(Object.entries({
  debug: 'debug', info: 'info', notice: 'info', warning: 'warn', error: 'error', critical: 'error', alert: 'error', emergency: 'error'
} as const))

/** Returns the lowest MCP level that a server should send, according to the level of our log. */
export const levelToSend = ({ level = 'info' }: Log): string =>
  ({ trace: 'debug', debug: 'debug', info: 'info', warn: 'warning' })[level] ?? 'error'

/**
 * Creates a function that writes a server's log messages (the parameters of `notifications/message`) to our log. It limits their length and
 * number per minute, and redacts secrets.
 */
export function createServerLog ({ server, log, clock, secrets }: { server: string, log: Log, clock: Clock, secrets: () => Redactor }) {
  let since = clock.monotonic()
  let written = 0
  let dropped = 0

  return ({ level, logger, data }: Record<string, unknown>): void => {
    const now = clock.monotonic()
    if (now - since > MINUTE_MS) {
      if (dropped > 0) log.warn({ server, dropped }, 'tool server wrote too many log messages')
      since = now
      written = dropped = 0
    }
    if (written === MOST_PER_MINUTE) {
      dropped++
      return
    }
    written++
    const { redact } = secrets()
    const text = typeof data === 'string' ? data : JSON.stringify(data) ?? ''
    const shown = (value: string, longest: number) => redact(value.slice(0, 2 * longest)).slice(0, longest).toWellFormed()
    log[LEVELS.get(level) ?? 'info']({
      server,
      ...typeof logger === 'string' && { logger: shown(logger, LONGEST_LOGGER) },
      text: shown(text, LONGEST_TEXT)
    }, 'tool server message')
  }
}
