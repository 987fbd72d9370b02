import type { Attributes } from '@opentelemetry/api'
import type { Approval } from '../contracts/approval-record.ts'
import type { RunTracer, TracedModelCall, TracedStep, TracedToolCall } from '../contracts/traced.ts'
import type { Clock } from '../lib/clock.ts'
import { settlesWithin } from '../lib/deadline.ts'
import { requestTrace } from '../lib/request-trace.ts'
import { isOver, type RunRecord } from '../runs/index.ts'
import type { AskedTraces } from './asked-traces.ts'
import type { EndedSpan } from './otlp.ts'
import { createHash } from 'node:crypto'

/** The position of a run in its trace. */
interface RunTrace {
  /** 32 hexadecimal digits. */
  traceId: string
  /** The id of the run's span; 16 hexadecimal digits. */
  spanId: string
  /** The id of the caller's span. */
  parentSpanId?: string
  /** Whether the caller records the trace; undefined without a caller. */
  isSampled?: boolean
}

/**
 * Matches the header `traceparent`. A later version of the header might have more fields. See
 * https://www.w3.org/TR/trace-context/#traceparent-header-field-values.
 */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/

export const isTraceparent = (header: string): boolean => TRACEPARENT.test(header)

const spanIdOf = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 16)

/**
 * Returns the position of a run in the trace of its caller, or in a trace of its own. All ids are derived from
 * the id of the run, so spans that are written after a restart belong to the same trace.
 */
function traceOf (runId: string, traceparent = ''): RunTrace {
  const spanId = spanIdOf(runId)
  const [, traceId, parentSpanId, flags] = TRACEPARENT.exec(traceparent) ?? []
  if (traceId === undefined) return { traceId: runId.replaceAll('-', ''), spanId }
  return { traceId, spanId, parentSpanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** Returns the id of the span of a step. */
const stepSpanId = (runId: string, step: number): string => spanIdOf(`${runId}/${step}`)

/** Returns the header `traceparent` for work that a run starts, so that the work joins the trace of the run. */
const traceparentOf = ({ traceId, spanId, isSampled = true }: RunTrace): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`

/** The time limit for sending the waiting spans when the service ends; milliseconds. */
const CLOSE_MS = 1_000
/** How many ended runs are remembered, so that the end of each run is written only once. */
const MOST_ENDED = 1_000

export type Traces = ReturnType<typeof createTraces>

interface Parts {
  asked: AskedTraces
  env: NodeJS.ProcessEnv
  clock: Clock
  log: { warn(details: object, message: string): void }
  /** Returns the record of an active run. */
  activeRun: (runId: string) => Pick<RunRecord, 'traceparent' | 'steps'> | undefined
  /** Returns the record of any run. */
  findRun: (runId: string) => Promise<Pick<RunRecord, 'traceparent'> | undefined>
}

const textOf = (value: unknown): string => typeof value === 'string' ? value : JSON.stringify(value) ?? ''

/**
 * Creates the writer of spans for runs, their steps, model calls, tool calls and waits for a person. Names follow the
 * conventions for generative AI (https://opentelemetry.io/docs/specs/semconv/gen-ai/). A span is written when it has ended.
 */
export function createTraces ({ asked, env, clock, log, activeRun, findRun }: Parts) {
  const begunAt = clock.now()
  const ended = new Set<string>()
  /** The number of the current step of each active run. */
  const steps = new Map<string, number>()
  let opened: Promise<{ write(span: EndedSpan): void, close(): Promise<void> }> | undefined
  const open = async () => (await import('./otlp.ts')).openOtlp(asked, env)

  function write (span: EndedSpan): void {
    opened ??= open()
    opened.then((otlp) => otlp.write(span)).catch((error) => log.warn({ err: error }, 'a trace could not be written'))
  }

  const placeOf = (runId: string) => traceOf(runId, activeRun(runId)?.traceparent)
  /** Returns the parent span for a call of a run: the current step, or the run itself. */
  function within (runId: string, isOfStep = true): Pick<EndedSpan, 'traceId' | 'parentSpanId' | 'isSampled'> {
    const { traceId, spanId, isSampled } = placeOf(runId)
    const step = steps.get(runId) ?? activeRun(runId)?.steps ?? 0
    return { traceId, isSampled, parentSpanId: isOfStep && step > 0 ? stepSpanId(runId, step) : spanId }
  }
  const lasting = (ms: number) => ({ begun: clock.now() - Math.round(ms), ended: clock.now() })

  function endRun (run: RunRecord): void {
    const { traceId, spanId, parentSpanId, isSampled } = traceOf(run.runId, run.traceparent)
    const agent = run.options?.agent ?? 'local-agent'
    const { inputTokens, outputTokens, costUsd } = run.usage
    write({
      name: `invoke_agent ${agent}`,
      ...{ traceId, spanId, parentSpanId, isSampled },
      begun: run.queuedAt,
      ended: run.completedAt ?? clock.now(),
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': agent,
        ...(run.threadId !== undefined && { 'gen_ai.conversation.id': run.threadId }),
        ...(run.taskId !== undefined && { 'local_agent.task.id': run.taskId }),
        'local_agent.run.id': run.runId,
        'local_agent.run.status': run.status,
        'local_agent.run.trigger': run.trigger,
        'local_agent.run.steps': run.steps,
        'gen_ai.usage.input_tokens': inputTokens,
        'gen_ai.usage.output_tokens': outputTokens,
        ...(costUsd !== undefined && { 'local_agent.usage.cost_usd': costUsd }),
        ...(asked.withContents && run.output !== undefined && {
          'gen_ai.output.messages': textOf([{ role: 'assistant', parts: [{ type: 'text', content: run.output }] }])
        })
      },
      ...(run.status === 'failed' && { error: run.failure?.code ?? run.failure?.reason ?? 'failed' }),
      ...(run.status === 'interrupted' && { error: 'interrupted' })
    })
  }

  const tracer: RunTracer = {
    during: (runId, work) => requestTrace.run(traceparentOf(placeOf(runId)), work),

    stepBegun (runId: string, step: number): void {
      steps.set(runId, step)
    },

    stepEnded ({ runId, step, finishReason, ms }: TracedStep): void {
      write({
        name: `step ${step}`,
        ...within(runId, false),
        spanId: stepSpanId(runId, step),
        ...lasting(ms),
        attributes: { 'local_agent.run.id': runId, 'local_agent.step': step, 'gen_ai.response.finish_reasons': [finishReason] }
      })
    }
  }

  return {
    ...tracer,

    modelCall ({ runId, model, role, ms, usage, code, prompt }: TracedModelCall): void {
      const [provider] = model.split('/')
      write({
        name: `chat ${model}`,
        isCall: true,
        ...runId === undefined ? { traceId: traceOf(crypto.randomUUID()).traceId } : within(runId, role === 'capable'),
        ...lasting(ms),
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': provider,
          'gen_ai.request.model': model,
          'local_agent.role': role,
          ...(usage !== undefined && {
            'gen_ai.usage.input_tokens': usage.inputTokens,
            'gen_ai.usage.output_tokens': usage.outputTokens,
            'gen_ai.usage.cache_read.input_tokens': usage.cachedInputTokens
          }),
          ...(asked.withContents && prompt !== undefined && { 'gen_ai.input.messages': textOf(prompt) })
        },
        ...(code !== undefined && { error: code })
      })
    },

    toolCall ({ runId, toolCallId, tool, status, ms, input, output }: TracedToolCall): void {
      const attributes: Attributes = {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': tool,
        'gen_ai.tool.call.id': toolCallId,
        'gen_ai.tool.type': 'function',
        ...(asked.withContents && {
          'gen_ai.tool.call.arguments': textOf(input),
          ...(output !== undefined && { 'gen_ai.tool.call.result': textOf(output) })
        })
      }
      const failed = status !== 'completed' && { error: status }
      write({ name: `execute_tool ${tool}`, ...within(runId), ...lasting(ms), attributes, ...failed })
    },

    /** Writes the span of a run, once, when the store has committed the end of the run. */
    runStored (run: RunRecord): void {
      const { runId, status, taskId, completedAt } = run
      if (!isOver(run)) return
      steps.delete(runId)
      // An interrupted run of a task might continue after a restart, so its span is not written yet. The earlier process
      // has written the runs that ended before this start.
      if (status === 'interrupted' ? taskId !== undefined : (completedAt ?? 0) < begunAt) return
      if (ended.has(runId)) return
      ended.add(runId)
      for (const old of [...ended].slice(0, -MOST_ENDED)) ended.delete(old)
      endRun(run)
    },

    /** Writes the span of a wait for a person or the application when the wait is over, even if the service was restarted meanwhile. */
    async waited (approval: Approval): Promise<void> {
      if (!('createdAt' in approval) || approval.runId === undefined) return
      const { runId, kind, state, createdAt } = approval
      const { traceId, spanId, isSampled } = traceOf(runId, (await findRun(runId))?.traceparent)
      const tool = 'toolName' in approval ? approval.toolName : undefined
      write({
        name: `wait ${tool ?? kind}`,
        ...{ traceId, parentSpanId: spanId, isSampled },
        begun: createdAt,
        ended: clock.now(),
        attributes: { 'local_agent.wait.kind': kind, 'local_agent.wait.state': state, ...(tool && { 'gen_ai.tool.name': tool }) }
      })
    },

    /** Sends the waiting spans, within CLOSE_MS. */
    async close (): Promise<void> {
      const otlp = await opened?.catch(() => undefined)
      if (otlp !== undefined) await settlesWithin({ clock, ms: CLOSE_MS }, otlp.close())
    }
  }
}
