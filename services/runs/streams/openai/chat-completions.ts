import type { RunBody } from '../../../../schemas/agent.ts'
import type { NamedAgent } from '../../../../schemas/agents.ts'
import type {
  ChatCompletion,
  ChatCompletionBody,
  ChatCompletionChunk,
  ChatError,
  ChatModel,
  ChatModelList
} from '../../../../schemas/openai.ts'
import type { Response, ResponseBody } from '../../../../schemas/responses.ts'
import type { ModelList } from '../../../../schemas/providers.ts'
import type { RunOptions } from '../../../../schemas/run-options.ts'
import type { ErrorCode } from '../../../../schemas/error-codes.ts'
import type { ThreadItem } from '../../../contracts/approval-record.ts'
import type { RunEvent } from '../../../contracts/run-events.ts'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import type { Clock } from '../../../lib/clock.ts'
import { PING_MS } from '../../../lib/event-stream.ts'
import { isId } from '../../../lib/ids.ts'
import { defineError, ServiceError } from '../../../lib/service-error.ts'
import { readFirst, readWhole, type Subscription } from '../../engine/active-run.ts'
import type { ThreadRun } from '../../run-record.ts'
import type { Encoder } from '../encoder.ts'
import { chatFailureOf, completionOf, createChatEncoder, createChatReader, readChunks, type ChatAnswer } from './chat-chunks.ts'
import type { Done } from './chat-errors.ts'
import { type ChatRequest, readChatRequest } from './chat-request.ts'
import { type FirstTries, LINGER_MS, type Try } from './first-tries.ts'
import { createResponseEncoder, responseOf } from './response-events.ts'
import { asChat, type AsChat } from './response-request.ts'

const NoSuchModel = defineError('ERR_AGENT_NOT_FOUND', 'There is no agent and no usable model "%s". GET /v1/models lists them.')

/** Errors that mean that a run cannot continue with the results of its calls. A new run then answers the conversation. */
const MOVED_ON: ErrorCode[] = [
  'ERR_RUN_GONE', 'ERR_CONVERSATION_MOVED_ON', 'ERR_TOOL_CALL_ANSWERED', 'ERR_TOOL_CALL_EXPIRED', 'ERR_TOOL_CALL_WITHDRAWN',
  'ERR_TOOL_CALL_CLAIMED', 'ERR_TOOL_CALL_NOT_APPROVED'
]

/** Types of events after which a call might have had an effect. */
const DONE: Array<RunEvent['type']> = ['tool-intent', 'tool-output', 'tool-error', 'tool-call-request']

/** Starts a run, with the key of a request that its client might repeat, or without a key. */
type Run = (body: RunBody, as: { isOneOff?: true, lingerMs?: number }, key?: Pick<Try, 'key' | 'since'>) => Promise<Subscription>

interface Parts {
  run: Run
  /** Ends the run that waits in a conversation. */
  stop: (id: string) => Promise<unknown>
  /** Finds an item of the ledger. */
  findItem: (id: string) => Promise<Partial<Pick<ThreadItem, 'threadId' | 'runId'>> | undefined>
  findRun: (id: string) => Promise<Pick<ThreadRun, 'given' | 'options'> | undefined>
  agents: () => Promise<{ agents: NamedAgent[] }>
  models: (signal: AbortSignal) => Promise<ModelList>
  activeModel: () => string
  isUsable: (model: string) => boolean
  /** Loads a picture from the web. Returns it as a `data:` URL. */
  loadPicture: (url: string, signal: AbortSignal) => Promise<string>
  tries: FirstTries
  clock: Clock
}

/** The client that made the request. */
interface Caller {
  signal: AbortSignal
  /** The value of the header `x-stainless-retry-count`, with which the client counts its tries; undefined if it does not count them. */
  tries?: string
}

/** A run that answers a request. */
interface Begun extends Pick<ChatAnswer, 'request' | 'isContinued'> {
  subscription: Subscription
  which?: Try
}

/** An answer that is streamed. */
interface Streamed {
  run: Subscription
  encoder: Encoder
}
interface Whole<T> {
  run: Subscription
  answer: T
}

export type ChatCompletions = ReturnType<typeof createChatCompletions>

/**
 * Answers requests of OpenAI's chat completions API and responses API with runs. Nobody can be asked in these runs: `interactive` is false.
 * A request whose messages end with results of a run's calls continues that run, if the options that `isSame` compares are the same. A
 * request that a client repeats gets the run of the first try. Any other request starts a run.
 */
export function createChatCompletions (parts: Parts) {
  const { stop, findItem, findRun, agents, models, activeModel, isUsable, loadPicture, tries, clock } = parts
  const seconds = () => Math.floor(clock.now() / 1000)

  /** Returns the options of a run for the agent or the model that a request names. Throws NoSuchModel (404). */
  async function optionsOf (model: string): Promise<RunOptions> {
    if ((await agents()).agents.some(({ name }) => name === model)) return { agent: model }
    if (!isUsable(model)) throw new NoSuchModel(model)
    return { model }
  }

  /** Begins the run that answers a request. `sent` is the request in its original form, by which a repeated request is recognised. */
  async function begin (sent: object, { body: wanted, fields }: AsChat, { signal, tries: count = '' }: Caller): Promise<Begun> {
    const chosen = await optionsOf(wanted.model)
    const request = await readChatRequest(wanted, (url) => loadPicture(url, signal), fields)
    const body = { ...request.body, options: { ...chosen, ...request.body.options } }
    const which = /^\d{1,3}$/.test(count) ? tries.begin(sent, Number(count)) : undefined
    try {
      const begun = await runOf({ ...request, body }, which)
      return { request, which, ...begun, subscription: which === undefined ? begun.subscription : watched(begun.subscription, which) }
    } catch (error) {
      tries.end(which, 'dropped')
      throw error
    }
  }

  async function runOf ({ body, answered }: ChatRequest, which: Try | undefined): Promise<Omit<Begun, 'request'>> {
    // Without a key, the client cannot come back to the run.
    const run = (what: RunBody, suffix = '') => which === undefined
      ? parts.run(what, { isOneOff: true })
      : parts.run(what, { lingerMs: LINGER_MS }, { key: which.key + suffix, since: which.since })
    const id = answered.at(-1)
    const item = id !== undefined && isId(id) ? await findItem(id) : undefined
    if (item?.threadId === undefined || item.runId === undefined) return { subscription: await run(body), isContinued: false }
    const record = await findRun(item.runId)
    if (record !== undefined && isSame(body.options, record.given ?? record.options)) {
      try {
        return { subscription: await run(body), isContinued: true }
      } catch (error) {
        if (!(error instanceof ServiceError) || !MOVED_ON.includes(error.code)) throw error
      }
    }
    await stop(item.runId).catch(() => {})
    // With this trigger, the results are read as messages and not as answers to calls.
    return { subscription: await run({ ...body, trigger: 'regenerate-message' }, ' anew'), isContinued: false }
  }

  /** Wraps a subscription so that `which` records whether the reader got the whole answer. */
  function watched (subscription: Subscription, which: Try): Subscription {
    return {
      ...subscription,
      async * batches (signal) {
        for await (const batch of subscription.batches(signal)) {
          yield batch
          if (batch.at(-1)?.type === 'finish') tries.end(which, 'answered')
        }
      },
      unsubscribe () {
        if (which.state === 'read') tries.end(which, 'left')
        subscription.unsubscribe()
      }
    }
  }

  const answerOf = ({ body }: AsChat, { request, isContinued, subscription }: Begun) => ({
    runId: subscription.runId,
    model: body.model,
    created: seconds(),
    request,
    isContinued,
    withUsage: body.stream_options?.include_usage === true
  })

  /** Reads a complete answer. Throws the failure with which its run ends. */
  async function readAnswer (begun: Begun, answer: ChatAnswer, { signal }: Caller): Promise<ChatCompletionChunk[]> {
    const events = await readWhole(begun.subscription, signal)
    if (signal.aborted) tries.end(begun.which, 'left')
    const chunks = readChunks(events, answer)
    if (chunks.some((chunk) => 'error' in chunk)) throwFailure(begun, events)
    return chunks.filter((chunk) => 'choices' in chunk)
  }

  /** Throws the failure with which a run has ended, if there is one. */
  function throwFailure ({ request, which }: Begun, events: readonly RunEvent[]): void {
    const failure = events.find((event) => event.type === 'error')
    if (failure === undefined) return
    const done: Done = events.some(({ type }) => DONE.includes(type)) ? 'something' : 'nothing'
    if (done === 'nothing') tries.end(which, 'dropped')
    throw Object.assign(chatFailureOf(failure, request.object?.toolName), { done })
  }

  /**
   * Waits for the first chunk of a streamed answer, until a ping is due, then returns the subscription. If the run fails before, throws the
   * failure, so that the response gets its HTTP status.
   */
  async function opened (begun: Begun, answer: ChatAnswer, { signal }: Caller): Promise<Subscription> {
    const read = createChatReader(answer)
    let piece: ChatCompletionChunk | ChatError | undefined
    const hasPiece = (event: RunEvent) => (piece ??= read(event).find(isPiece)) !== undefined
    let { subscription } = begun
    try {
      const { events, whole } = await readFirst(subscription, hasPiece, { clock, ms: PING_MS, signal })
      subscription = whole
      if (piece !== undefined && 'error' in piece) throwFailure(begun, events)
      return whole
    } catch (error) {
      subscription.unsubscribe()
      throw error
    }
  }

  /** Returns the models to list. The active model is listed even if its provider lists none. */
  async function listed (signal: AbortSignal): Promise<ChatModel[]> {
    const active = activeModel()
    const [named, list] = await Promise.all([agents(), models(signal)])
    const ids = [...new Set([active, ...list.models.map(({ id }) => id)])]
    return [
      ...named.agents.map(({ name, createdAt }): ChatModel =>
        ({ id: name, object: 'model', created: Math.floor(createdAt / 1000), owned_by: 'agent' })),
      ...ids.map((id): ChatModel => ({ id, object: 'model', created: 0, owned_by: id.split('/', 1)[0] }))
    ]
  }

  return {
    list: async (signal: AbortSignal): Promise<ChatModelList> => ({ object: 'list', data: await listed(signal) }),

    /** Returns a listed model by its id. Throws NoSuchModel (404). */
    async get (id: string, signal: AbortSignal): Promise<ChatModel> {
      const found = (await listed(signal)).find((model) => model.id === id)
      if (found === undefined) throw new NoSuchModel(id)
      return found
    },

    /**
     * Starts a streamed answer. Throws NoSuchModel (404), BadField (400), the errors of a run that cannot start, and the failure of a run
     * that fails before its first chunk.
     */
    async stream (wanted: ChatCompletionBody, caller: Caller): Promise<Streamed> {
      const begun = await begin(wanted, { body: wanted }, caller)
      const answer = answerOf({ body: wanted }, begun)
      return { run: await opened(begun, answer, caller), encoder: createChatEncoder(answer) }
    },

    /** Like `stream`, but returns the complete answer. Also throws the failure with which the run ends. */
    async complete (wanted: ChatCompletionBody, caller: Caller): Promise<Whole<ChatCompletion>> {
      const begun = await begin(wanted, { body: wanted }, caller)
      const answer = answerOf({ body: wanted }, begun)
      return { run: begun.subscription, answer: completionOf(await readAnswer(begun, answer, caller), answer) }
    },

    /** `streamResponse` and `respond` are like `stream` and `complete`, for requests of OpenAI's responses API. */
    async streamResponse (wanted: ResponseBody, caller: Caller): Promise<Streamed> {
      const asked = asChat(wanted)
      const begun = await begin(wanted, asked, caller)
      const answer = answerOf(asked, begun)
      return { run: await opened(begun, answer, caller), encoder: createResponseEncoder(answer, wanted) }
    },
    async respond (wanted: ResponseBody, caller: Caller): Promise<Whole<Response>> {
      const asked = asChat(wanted)
      const begun = await begin(wanted, asked, caller)
      const answer = answerOf(asked, begun)
      return { run: begun.subscription, answer: responseOf(await readAnswer(begun, answer, caller), answer, wanted) }
    }
  }
}

/** Whether a chunk contains more than the beginning of an answer. */
const isPiece = (chunk: ChatCompletionChunk | ChatError): boolean =>
  'error' in chunk || chunk.choices.some(({ delta }) => delta.role === undefined)

/** Whether two requests have the same model or agent, the same tools of the caller, and the same form of the answer. */
function isSame (one: RunOptions, other: RunOptions | undefined): boolean {
  const asked = ({ agent, model, appTools, object }: RunOptions = {}) => canonicalJson({ agent, model, appTools, object })
  return asked(one) === asked(other)
}
