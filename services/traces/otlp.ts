import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags, type Attributes } from '@opentelemetry/api'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler
} from '@opentelemetry/sdk-trace'
import { BUILD } from '../lib/version.ts'
import type { AskedTraces } from './asked-traces.ts'

/** A span that has ended. */
export interface EndedSpan {
  name: string
  isCall?: boolean
  traceId: string
  spanId?: string
  parentSpanId?: string
  /** Whether the caller records the trace. If undefined, the sampler decides by the id of the trace. */
  isSampled?: boolean
  /** Milliseconds since the Unix epoch. */
  begun: number
  ended: number
  attributes: Attributes
  /** The type of the error, in one word. */
  error?: string
}

/** The most spans that wait for the collector; further spans are dropped. */
const MOST_WAITING = 2048
const LONGEST_VALUE = 100_000

/** Returns the sampler for traces that begin in this service. It does not apply to traces of a caller, who decides. */
function samplerOf ({ OTEL_TRACES_SAMPLER: name = '', OTEL_TRACES_SAMPLER_ARG: arg = '1' }: NodeJS.ProcessEnv): Sampler {
  if (name.endsWith('always_off')) return new AlwaysOffSampler()
  return name.endsWith('traceidratio') ? new TraceIdRatioBasedSampler(Number(arg)) : new AlwaysOnSampler()
}

/** Opens the exporter that sends spans, in batches, to the collector which the environment names. */
export function openOtlp ({ protocol }: AskedTraces, env: NodeJS.ProcessEnv) {
  const exporter = protocol === 'http/json' ? new JsonExporter() : new ProtobufExporter()
  const delay = Number(env.OTEL_BSP_SCHEDULE_DELAY)
  const processor = new BatchSpanProcessor({
    exporter,
    maxQueueSize: MOST_WAITING,
    ...(delay > 0 && { scheduledDelayMillis: delay })
  })
  /** The ids for the next span. The SDK asks for ids, but the service chooses them itself. */
  let next = { traceId: '', spanId: '' }
  const random = () => Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString('hex')
  const sampler = samplerOf(env)
  const service = resourceFromAttributes({ 'service.name': env.OTEL_SERVICE_NAME || 'local-agent', 'service.version': BUILD })
  const provider = new TracerProvider({
    resource: service.merge(detectResources({ detectors: [envDetector] })),
    sampler: new AlwaysOnSampler(),
    idGenerator: { generateTraceId: () => next.traceId, generateSpanId: () => next.spanId },
    spanLimits: { attributeValueLengthLimit: LONGEST_VALUE },
    spanProcessors: [processor]
  })
  const tracer = provider.getTracer('local-agent', BUILD)
  const isRecorded = ({ traceId, name, isSampled }: EndedSpan) =>
    isSampled ??
      sampler.shouldSample(ROOT_CONTEXT, traceId, name, SpanKind.INTERNAL, {}, []).decision === SamplingDecision.RECORD_AND_SAMPLED

  return {
    write (ended: EndedSpan): void {
      if (!isRecorded(ended)) return
      const { name, traceId, spanId = random(), parentSpanId, isCall = false, begun, attributes, error } = ended
      next = { traceId, spanId }
      const parent = parentSpanId === undefined
        ? ROOT_CONTEXT
        : trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId: parentSpanId, traceFlags: TraceFlags.SAMPLED, isRemote: true })
      const span = tracer.startSpan(name, { kind: isCall ? SpanKind.CLIENT : SpanKind.INTERNAL, startTime: begun, attributes }, parent)
      if (error !== undefined) {
        span.setAttribute('error.type', error)
        span.setStatus({ code: SpanStatusCode.ERROR })
      }
      span.end(ended.ended)
    },
    /** Sends the waiting spans. */
    close: (): Promise<void> => provider.shutdown().catch(() => {})
  }
}
