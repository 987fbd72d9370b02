import type { StreamEvent } from '../../schemas/stream-events.ts'
import type { Clock } from '../lib/clock.ts'

/** Logs every run that is over: its owner, its status, and the milliseconds since it began, also those in which it waited for a person. */
export function logRuns ({ onEvent, clock, log }: {
  onEvent: (listener: (event: StreamEvent) => void) => unknown,
  clock: Clock,
  log: { info(details: object, message: string): void }
}) {
  const begun = new Map<string, number>()
  onEvent((event) => {
    if (event.type === 'run:start') begun.set(event.runId, clock.monotonic())
    if (event.type !== 'run:end') return
    const { runId, threadId, taskId, status } = event
    const start = begun.get(runId)
    begun.delete(runId)
    log.info({ runId, threadId, taskId, status, ...(start !== undefined && { ms: Math.round(clock.monotonic() - start) }) }, 'run')
  })
}
