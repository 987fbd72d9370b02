import type { RunBody } from '../../../../schemas/agent.ts'
import type { NamedAgent } from '../../../../schemas/agents.ts'
import type { ChatCompletion, ChatCompletionBody, ChatModel, ChatModelList } from '../../../../schemas/openai.ts'
import type { ModelList } from '../../../../schemas/providers.ts'
import type { RunOptions } from '../../../../schemas/run-options.ts'
import type { ErrorCode } from '../../../../schemas/error-codes.ts'
import type { ThreadItem } from '../../../contracts/approval-record.ts'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import type { Clock } from '../../../lib/clock.ts'
import { isId } from '../../../lib/ids.ts'
import { defineError, ServiceError } from '../../../lib/service-error.ts'
import { readWhole, type Subscription } from '../../engine/active-run.ts'
import type { ThreadRun } from '../../run-record.ts'
import type { Encoder } from '../encoder.ts'
import { completionOf, createChatEncoder, failureOf, type ChatAnswer } from './chat-chunks.ts'
import { type ChatRequest, readChatRequest } from './chat-request.ts'

const NoSuchModel = defineError('ERR_AGENT_NOT_FOUND', 'There is no agent and no usable model "%s". GET /v1/models lists them.')

/** Why a run cannot go on with results of its calls: the conversation is then answered by a new run. */
const MOVED_ON: ErrorCode[] = [
  'ERR_RUN_GONE', 'ERR_CONVERSATION_MOVED_ON', 'ERR_TOOL_CALL_ANSWERED', 'ERR_TOOL_CALL_EXPIRED', 'ERR_TOOL_CALL_WITHDRAWN',
  'ERR_TOOL_CALL_CLAIMED', 'ERR_TOOL_CALL_NOT_APPROVED'
]

interface Parts {
  run: (body: RunBody) => Promise<Subscription>
  /** Ends the run that waits in a conversation. */
  stop: (id: string) => Promise<unknown>
  /** Finds an item of the ledger. */
  findItem: (id: string) => Promise<Partial<Pick<ThreadItem, 'threadId' | 'runId'>> | undefined>
  findRun: (id: string) => Promise<Pick<ThreadRun, 'given' | 'options'> | undefined>
  agents: () => Promise<{ agents: NamedAgent[] }>
  models: (signal: AbortSignal) => Promise<ModelList>
  activeModel: () => string
  isUsable: (model: string) => boolean
  /** Returns a picture of the web as a data: URL. */
  loadPicture: (url: string, signal: AbortSignal) => Promise<string>
  clock: Pick<Clock, 'now'>
}

/** A run that answers a request. */
interface Begun extends Pick<ChatAnswer, 'request' | 'isContinued'> {
  subscription: Subscription
}

/** An answer that streams. */
interface Streamed {
  run: Subscription
  encoder: Encoder
}

export type ChatCompletions = ReturnType<typeof createChatCompletions>

/**
 * Answers requests of OpenAI's chat completions with runs. Nobody is there to ask: `interactive` is false. A request whose messages end
 * with results of a run's calls continues that run, if it asks for the same; any other begins one.
 */
export function createChatCompletions (
  { run, stop, findItem, findRun, agents, models, activeModel, isUsable, loadPicture, clock }: Parts
) {
  const seconds = () => Math.floor(clock.now() / 1000)

  /** Throws NoSuchModel (404). */
  async function optionsOf (model: string): Promise<RunOptions> {
    if ((await agents()).agents.some(({ name }) => name === model)) return { agent: model }
    if (!isUsable(model)) throw new NoSuchModel(model)
    return { model }
  }

  async function begin (given: ChatCompletionBody, signal: AbortSignal): Promise<Begun> {
    const chosen = await optionsOf(given.model)
    const request = await readChatRequest(given, (url) => loadPicture(url, signal))
    const body = { ...request.body, options: { ...chosen, ...request.body.options } }
    return { request, ...await runOf({ ...request, body }) }
  }

  async function runOf ({ body, answered }: ChatRequest): Promise<Omit<Begun, 'request'>> {
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
    // So that the results are read as what was said, and answer no call.
    return { subscription: await run({ ...body, trigger: 'regenerate-message' }), isContinued: false }
  }

  const answerOf = (given: ChatCompletionBody, { request, isContinued, subscription }: Begun) => ({
    runId: subscription.runId,
    model: given.model,
    created: seconds(),
    request,
    isContinued,
    withUsage: given.stream_options?.include_usage === true
  })

  /** The active model is listed also while its provider lists none. */
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

    /** Throws NoSuchModel (404). */
    async get (id: string, signal: AbortSignal): Promise<ChatModel> {
      const found = (await listed(signal)).find((model) => model.id === id)
      if (found === undefined) throw new NoSuchModel(id)
      return found
    },

    /** Throws NoSuchModel (404), BadField (400), and what a run throws that cannot begin. */
    async stream (given: ChatCompletionBody, signal: AbortSignal): Promise<Streamed> {
      const begun = await begin(given, signal)
      return { run: begun.subscription, encoder: createChatEncoder(answerOf(given, begun)) }
    },

    /** Does the same as `stream`, and returns the whole answer. Throws also the failure with which the run ends. */
    async complete (given: ChatCompletionBody, signal: AbortSignal): Promise<{ run: Subscription, completion: ChatCompletion }> {
      const begun = await begin(given, signal)
      const events = await readWhole(begun.subscription, signal)
      const failure = events.find((event) => event.type === 'error')
      if (failure !== undefined) {
        const { error, code, details } = failureOf(failure)
        throw Object.assign(new ServiceError(code as ErrorCode, error), { details })
      }
      return { run: begun.subscription, completion: completionOf(events, answerOf(given, begun)) }
    }
  }
}

/** Whether two requests ask for the same: who answers, with which tools of the caller, in which form. */
function isSame (one: RunOptions, other: RunOptions | undefined): boolean {
  const asked = ({ agent, model, appTools, object }: RunOptions = {}) => canonicalJson({ agent, model, appTools, object })
  return asked(one) === asked(other)
}
