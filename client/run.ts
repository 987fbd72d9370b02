import { executeCall } from './app-tools.ts'
import { pause, pauseBefore } from './backoff.ts'
import type { Client } from './create-client.ts'
import { AgentError, isCut, streamCut } from './errors.ts'
import { steerRun, stopRun, type Answers, type RunStreamEvent, type SteeredRun } from './generated/index.ts'
import { createLiveAnswers } from './live-questions.ts'
import { createReplayFilter } from './replay.ts'
import { createRunState, type RequestEvent } from './run-state.ts'
import type { Decision, Handlers, RunResult } from './run-types.ts'
import { openStream, readJson } from './sse.ts'

/** How often a stream is opened again without a new event in between. The attempts take about a minute, so that the service can restart. */
const ATTEMPTS = 12

/**
 * A run of the agent. Iterating it yields the run's events, across all approvals, questions and tool calls, until the run ends or waits.
 */
export interface AgentRun<T = unknown> extends AsyncIterable<RunStreamEvent> {
  /** Undefined before the event `start`. */
  readonly threadId: string | undefined
  readonly runId: string | undefined
  /** Reads the events that the loop has not read, and returns the result. Throws AgentError if the run failed. */
  result (): Promise<RunResult<T>>
  /** Stops the run. The events end with `abort`, and the iteration ends without an error. */
  stop (): Promise<void>
  /** Starts a new run that continues where this one stopped, failed or was interrupted. */
  continue (): AgentRun<T>
  /**
   * Sends a steering message, which the model gets at its next step. Resolves when the message is stored. A repeated `id` has no effect. A
   * call before the event `start` waits for this event, so the run's events must be read. Throws ERR_NO_LIVE_RUN if the run has no further
   * step.
   */
  steer (message: string, options?: { id?: string }): Promise<SteeredRun>
  /** Decides the request of an event `tool-approval-request`, instead of the handler `approve`. */
  approve (approvalId: string, decision: Decision): void
  /** Answers the request of an event `question-request`, instead of the handler `ask`; `false` declines it. */
  answer (approvalId: string, answers: Answers | false): void
}

export interface RunParts extends Handlers {
  client: Client
  /** The name with which this instance of the application claims tool calls. */
  instance: string
  resumable: boolean
  onEvent?: (event: RunStreamEvent) => void
  /** Opens the first stream: with a request, or with the id of a thread or run to follow. */
  begin: { body: object, url?: string, key?: string } | { follow: string }
}

type Events = AsyncGenerator<{ id?: string, event: RunStreamEvent }>

/**
 * Opens the stream of a segment: the part of a run between two waits for a person. If `isRepeatable` is true, `open` can be called again
 * until the first event is read.
 */
interface Segment {
  open: () => Promise<Events>
  isRepeatable: boolean
}

const query = { protocol: 'documented' }

export function createAgentRun<T> (parts: RunParts): AgentRun<T> {
  const { client, instance, resumable, begin } = parts
  const state = createRunState()
  const failed = new AbortController()
  const live = createLiveAnswers({ ...parts, failed })
  const signal = parts.signal === undefined ? failed.signal : AbortSignal.any([failed.signal, parts.signal])
  const decisions = new Map<string, object>()
  let isStopped = false
  /** Resolves to the id of the run when the run has begun. */
  const begun = Promise.withResolvers<string>()
  begun.promise.catch(() => {})

  const post = async (url: string, given: object, key?: string) => {
    const headers = key === undefined ? {} : { 'idempotency-key': key }
    const body = { ...given, resumable }
    return readJson<RunStreamEvent>((await openStream(client, { method: 'POST', url, body, headers, query, signal }))!, signal)
  }
  /**
   * Opens the stream of the active run again, after the event `after`. With the id of a run, the stream also holds the recorded events of a
   * run that has ended or waits.
   */
  const follow = async (id = state.runId!, after?: string) => {
    const url = `/run/${encodeURIComponent(id)}/stream`
    const headers = after === undefined ? {} : { 'last-event-id': after }
    const stream = await openStream(client, { method: 'GET', url, headers, query, signal })
    if (stream === undefined) throw new AgentError(`No run is active or waits under "${id}".`, { code: 'ERR_NO_LIVE_RUN', statusCode: 404 })
    return readJson<RunStreamEvent>(stream, signal)
  }

  /**
   * Yields each event of one segment once, however often the stream breaks off. If `isRepeatable` is true, `open` may be called again until
   * the first event is read.
   */
  async function * readSegment ({ open, isRepeatable }: Segment): AsyncGenerator<RunStreamEvent> {
    const filter = createReplayFilter()
    let isBegun = false
    let last: string | undefined
    let stream = await open().catch((error) => {
      if (!isRepeatable || !isCut(error)) throw error
      return again(open, 0)
    })
    for (let attempt = 0; ; attempt++) {
      let failure: unknown = streamCut()
      try {
        let isFirst = true
        for await (const { id, event: each } of stream) {
          // If the service does not know the last event, its stream begins again with `start`.
          if (isFirst) filter[each.type === 'start' ? 'reopen' : 'resume']()
          isFirst = false
          isBegun = true
          const events = filter.pass(each)
          if (id !== undefined) {
            last = id
            filter.mark()
          }
          for (const event of events) {
            attempt = 0
            state.add(event)
            if (event.type === 'start') begun.resolve(event.messageMetadata.runId)
            live.take(event)
            parts.onEvent?.(event)
            yield event
            if (event.type === 'finish') return
          }
        }
      } catch (error) {
        if (!isCut(error)) throw error
        failure = error
      }
      const next = isBegun ? resumable ? () => follow(state.runId, last) : undefined : isRepeatable ? open : undefined
      if (next === undefined || attempt >= ATTEMPTS) throw failure
      stream = await again(next, attempt)
    }
  }

  /** Opens a stream again. Repeats this while the service cannot be reached, up to ATTEMPTS times. */
  async function again<S> (reopen: () => Promise<S>, from: number): Promise<S> {
    for (let attempt = from; ; attempt++) {
      await pause(pauseBefore(attempt), signal)
      try {
        return await reopen()
      } catch (error) {
        if (!isCut(error) || attempt >= ATTEMPTS) throw error
      }
    }
  }

  /** Answers the requests of a segment, and returns the function that opens the next stream; undefined if the run still waits. */
  async function settle (requests: readonly RequestEvent[]): Promise<(() => Promise<Events>) | undefined> {
    const { approve, ask, tools = {} } = parts
    const answers: object[] = []
    for (const request of requests) {
      if (request.type === 'tool-call-request') continue
      const { approvalId } = request
      if (request.type === 'tool-approval-request' && approve && !decisions.has(approvalId)) {
        decisions.set(approvalId, decisionPart(approvalId, await approve(request)))
      } else if (request.type === 'question-request' && ask && !decisions.has(approvalId)) {
        decisions.set(approvalId, answerPart(approvalId, await ask(request)))
      }
      signal.throwIfAborted()
      const answer = decisions.get(approvalId)
      if (answer !== undefined) answers.push(answer)
      decisions.delete(approvalId)
    }
    const calls = requests.filter((request) => request.type === 'tool-call-request' && Object.hasOwn(tools, request.toolName))
    const executed = await Promise.all(
      calls.map((call) => call.type === 'tool-call-request' && executeCall(client, call, tools[call.toolName], { instance, signal }))
    )
    if (answers.length > 0) return () => post('/run/approve', { messages: [{ role: 'tool', content: answers }] })
    return executed.includes(true) ? () => follow() : undefined
  }

  async function * read (): AsyncGenerator<RunStreamEvent> {
    let segment: Segment = 'follow' in begin
      ? { open: () => follow(begin.follow), isRepeatable: false }
      : { open: () => post(begin.url ?? '/run', begin.body, begin.key), isRepeatable: resumable && begin.key !== undefined }
    try {
      while (true) {
        yield * readSegment(segment)
        if (state.failure !== undefined && !isStopped) throw state.failure
        const next = isStopped ? undefined : await settle(state.requests)
        if (next === undefined) return
        // Sending the same decisions again returns the same segment from its beginning.
        segment = { open: next, isRepeatable: resumable }
      }
    } catch (error) {
      if (parts.signal?.aborted && resumable) await stop().catch(() => {})
      throw error
    } finally {
      begun.reject(new AgentError('The run ended before it had begun.', { code: 'ERR_NO_LIVE_RUN', statusCode: 404 }))
    }
  }

  async function stop () {
    isStopped = true
    const id = state.runId
    if (id === undefined) return
    const { error } = await stopRun({ client, path: { id }, throwOnError: false })
    if (error !== undefined && error.code !== 'ERR_NO_LIVE_RUN') throw error
  }

  const events = read()
  return {
    get threadId () {
      return state.threadId
    },
    get runId () {
      return state.runId
    },
    [Symbol.asyncIterator]: () => events,
    async result () {
      while (!(await events.next()).done);
      return state.result<T>()
    },
    stop,
    continue: () => createAgentRun<T>({ ...parts, begin: { body: { id: state.threadId, continue: true } } }),
    async steer (message, { id } = {}) {
      const body = { message, ...(id !== undefined && { id }) }
      const { data } = await steerRun({ client, path: { id: await begun.promise }, body, throwOnError: true })
      return data
    },
    approve: (approvalId, decision) => void decisions.set(approvalId, decisionPart(approvalId, decision)),
    answer (approvalId, answers) {
      if (live.has(approvalId)) live.answer(approvalId, answers)
      else decisions.set(approvalId, answerPart(approvalId, answers))
    }
  }
}

const decisionPart = (approvalId: string, decision: Decision) =>
  ({ type: 'tool-approval-response', approvalId, ...typeof decision === 'object' ? decision : { approved: decision } })
const answerPart = (approvalId: string, answers: Answers | false) =>
  ({ type: 'tool-approval-response', approvalId, ...answers === false ? { approved: false } : { answers } })
