import { createHash } from 'node:crypto'

/** The place of a run in its trace. */
interface RunTrace {
  /** 32 hexadecimal digits. */
  traceId: string
  /** The span of the run, 16 hexadecimal digits. */
  spanId: string
  /** The span of the caller. */
  parentSpanId?: string
  /** Whether the caller records the trace; undefined without a caller. */
  isSampled?: boolean
}

/** https://www.w3.org/TR/trace-context/#traceparent-header-field-values; a later version may have more fields. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/

export const isTraceparent = (header: string): boolean => TRACEPARENT.test(header)

const spanIdOf = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 16)

/**
 * Returns the place of a run: in the trace of its caller, else in one of its own. All ids follow from the run's, so that what it does
 * after a restart, and who waits for it meanwhile, is in the same trace.
 */
export function traceOf (runId: string, traceparent = ''): RunTrace {
  const spanId = spanIdOf(runId)
  const [, traceId, parentSpanId, flags] = TRACEPARENT.exec(traceparent) ?? []
  if (traceId === undefined) return { traceId: runId.replaceAll('-', ''), spanId }
  return { traceId, spanId, parentSpanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** The span of a step of a run. */
export const stepSpanId = (runId: string, step: number): string => spanIdOf(`${runId}/${step}`)

/** The header by which something that a run begins joins its trace. */
export const traceparentOf = ({ traceId, spanId, isSampled = true }: RunTrace): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
