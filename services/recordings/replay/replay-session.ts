import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { ErrorCode } from '../../../schemas/error-codes.ts'
import { isDeepStrictEqual } from 'node:util'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { createReplyModel, type Provider, RecordedFailure } from '../../models/index.ts'
import { type Perform, ToolFailed } from '../../tools/index.ts'
import { ANSWER_TOOL, ASK_USER } from '../../contracts/model-texts.ts'
import { type AnswerLine, type ApprovalLine, type CallLine, linesOf, type MessageLine, type Recording } from '../recording.ts'
import { compareContext, compareFresh, type Difference, type Fresh, freshIn } from './differences.ts'

/** The new inputs of the model at a step, and the recorded answer. */
interface RecordedStep {
  number: number
  fresh: Array<CallLine | MessageLine>
  answer: AnswerLine
}

/** Actions on the running run that a replay performs besides answering model calls and tool calls. */
interface ReplayPorts {
  /** Sends a message of the user to the run. */
  steer(text: string): Promise<void>
  /** Stops the run, because the recording ends at this point. */
  stop(): Promise<void>
}

/** The facts about a call that an item of the inbox shows. A question has no tool. */
interface Called {
  toolName?: string
  input?: unknown
}

export type ReplaySession = ReturnType<typeof createReplaySession>

/**
 * Returns the steps of a recording: each model answer with the results and messages that came before it. Lines after the last answer are
 * left out.
 */
function stepsOf ({ lines }: Pick<Recording, 'lines'>): RecordedStep[] {
  const steps: RecordedStep[] = []
  let fresh: RecordedStep['fresh'] = []
  for (const line of lines) {
    if (line.type === 'call' || line.type === 'message') fresh.push(line)
    if (line.type !== 'answer') continue
    // Models receive results in the order of the calls, not in the order in which the calls ended.
    const order = steps.at(-1)?.answer.toolCalls?.map(({ id }) => id) ?? []
    const place = (each: CallLine | MessageLine) => each.type === 'call' && each.id !== undefined ? order.indexOf(each.id) : order.length
    steps.push({ number: steps.length + 1, fresh: fresh.toSorted((a, b) => place(a) - place(b)), answer: line })
    fresh = []
  }
  return steps
}

/**
 * Creates the session that plays the models and tools of one run from a recording, and collects the differences. The ids
 * of calls stay as recorded. A file is changed only if `holds` returns true for its path, which means that it is a copy.
 */
export function createReplaySession (
  recording: Recording,
  { isStrict, clock, holds }: { isStrict: boolean, clock: Clock, holds: (path: string) => boolean }
) {
  const steps = stepsOf(recording)
  const isTask = linesOf(recording, 'task').length > 0
  const told = linesOf(recording, 'context').flatMap(({ tools, deferred = [] }) => [...tools.map(({ name }) => name), ...deferred])
  const called = linesOf(recording, 'call').map(({ toolName }) => toolName)
  const calls = new Map(linesOf(recording, 'call').flatMap((line) => line.id === undefined ? [] : [[line.id, line] as const]))
  const approvals = new Map(linesOf(recording, 'approval').flatMap((line) => line.call === undefined ? [] : [[line.call, line] as const]))
  const besideCalls = linesOf(recording, 'approval').filter(({ call }) => call === undefined)
  const files = new Map(linesOf(recording, 'file').map((line) => [line.path, line]))
  const asides = Map.groupBy(linesOf(recording, 'aside'), ({ name }) => name)
  const differences: Difference[] = []
  const asked = new Set<string>()
  /** The recorded ids of calls that ran or were answered. */
  const ran = new Set<string>()
  let ports: ReplayPorts | undefined
  let made = 0
  let before: { answers: number, fresh: Fresh[] } = { answers: -1, fresh: [] }

  /** The recorded ids by new ids, for calls that the user or the application answers, because these get new ids in each run. */
  const matched = new Map<string, string>()
  const isOfOthers = ({ by }: CallLine) => by === 'app' || by === 'user'

  /** Returns the id under which a call was recorded. */
  function recordedId (id: string, call?: Called): string {
    const known = calls.has(id) || approvals.has(id) ? id : matched.get(id)
    if (known !== undefined || call === undefined) return known ?? id
    const used = new Set(matched.values())
    const left = [...calls].filter(([each, line]) => isOfOthers(line) && !used.has(each) && line.toolName === (call.toolName ?? ASK_USER))
    const found = (left.find(([, { input }]) => isDeepStrictEqual(input, call.input)) ?? left[0])?.[0]
    if (found !== undefined) matched.set(id, found)
    return found ?? id
  }
  const stepOf = (call: string) => steps.find(({ answer }) => answer.toolCalls?.some(({ id }) => id === call))?.number ?? made

  /** Stops the run, because the recording ends at this point. Stays pending until the signal aborts, then rejects with its reason. */
  function stopped (signal: AbortSignal | undefined): Promise<never> {
    void ports?.stop().catch(() => {})
    return new Promise((_resolve, reject) => {
      const abort = () => reject(signal!.reason)
      if (signal?.aborted) abort()
      signal?.addEventListener('abort', abort, { once: true })
    })
  }

  /**
   * Returns the inputs that are new in a prompt since the previous model call. A prompt does not contain empty
   * answers of the model, so new inputs cannot be found by the number of answers alone.
   */
  function freshSince (prompt: LanguageModelV4CallOptions['prompt']): Fresh[] {
    const fresh = freshIn(prompt)
    const answers = prompt.filter(({ role }) => role === 'assistant').length
    const isOnly = before.answers === answers && before.fresh.every((each, at) => isDeepStrictEqual(each, fresh[at]))
    const left = isOnly ? fresh.slice(before.fresh.length) : fresh
    before = { answers, fresh }
    return left
  }

  async function stepReply (options: LanguageModelV4CallOptions) {
    const step = steps[made]
    if (step === undefined) {
      const found = freshSince(options.prompt).map(({ text }) => text)
      differences.push({
        step: made + 1,
        what: made === 0 ? 'The model is asked, and was not.' : 'The model is asked once more than in the recording.',
        ...(found.length > 0 && { now: found.join('\n') })
      })
      throw new RecordedFailure({ code: 'ERR_PROVIDER_FAILED', message: 'The recording has no further answer.' })
    }
    made++
    if (isStrict && made === 1) differences.push(...compareContext(linesOf(recording, 'context')[0], options, { isTask }))
    const tail = freshSince(options.prompt)
    const missed = made === 1 ? undefined : compareFresh(step, tail, isStrict)
    if (missed !== undefined) differences.push(missed)
    const { answer } = step
    if (answer.failure !== undefined) throw new RecordedFailure({ ...answer.failure, code: answer.failure.code as ErrorCode })
    if (answer.isCut) return stopped(options.abortSignal)
    for (const message of steps[made]?.fresh ?? []) {
      if (message.type === 'message' && message.from === 'user') await ports?.steer(message.text)
    }
    return answer
  }

  function asideReply ({ responseFormat }: LanguageModelV4CallOptions) {
    const line = asides.get((responseFormat?.type === 'json' ? responseFormat.name : undefined) ?? 'text')?.shift()
    if (line === undefined) throw new Error('The recording has no such answer.')
    return { text: line.text, ...(line.usage && { usage: line.usage }) }
  }

  const provider: Provider = {
    name: 'gateway',
    kind: 'gateway',
    reach: 'cloud',
    defaultModel: recording.header.models?.capable ?? 'recorded/model',
    configured: () => true,
    async languageModel (modelId): Promise<LanguageModelV4> {
      const stream = createReplyModel({ modelId, clock, reply: stepReply })
      const whole = createReplyModel({ modelId, clock, reply: (options) => isStep(options) ? stepReply(options) : asideReply(options) })
      return { ...stream, doGenerate: whole.doGenerate }
    },
    listModels: async () => []
  }

  const perform: Perform = async (tool, input, { callId, signal }) => {
    const line = calls.get(recordedId(callId))
    ran.add(recordedId(callId))
    if (line === undefined) {
      const isCut = made === steps.length
      if (isCut) return stopped(signal)
      differences.push({ step: made, what: `${tool.model.name} runs, and its result is not in the recording.`, now: JSON.stringify(input) })
      throw new ToolFailed('The recording has no result of this call.')
    }
    if (line.denied !== undefined || line.isInvalid) {
      const recorded = line.denied ?? line.error
      differences.push({ step: made, what: `${tool.model.name} runs, and did not.`, recorded, now: JSON.stringify(input) })
    }
    for (const { path, after } of line.changes ?? []) {
      if (!holds(path)) continue
      const text = files.get(path)?.after
      if (after === null) await rm(path, { recursive: true, force: true })
      else if (typeof text === 'string') await mkdir(dirname(path), { recursive: true }).then(() => writeFile(path, text))
    }
    if (line.output === undefined) throw new ToolFailed(line.error ?? line.denied ?? '')
    return line.output
  }

  return {
    provider,
    perform,
    steps,
    differences,
    /** The number of model calls that the run has made so far. */
    get made () {
      return made
    },
    connect: (given: ReplayPorts) => void (ports = given),
    /** True if the recorded run could use a tool. */
    wasOffered: (name: string) => told.includes(name) || called.includes(name),
    recordedId,
    stepOf,
    /** Returns the recorded line of a call; undefined if there is none. */
    callOf: (id: string, call?: Called): CallLine | undefined => calls.get(recordedId(id, call)),
    /** Marks a call as answered by the application. */
    answered: (id: string) => void ran.add(recordedId(id)),
    /** Returns a person's recorded decision about a call, and marks the call as one that asked for an approval. */
    decisionOf (id: string, call?: Called): ApprovalLine | undefined {
      const known = recordedId(id, call)
      asked.add(known)
      return approvals.get(known)
    },
    /** Returns the next recorded decision about something that is no call: a result, or a budget that is used up. */
    decisionBesideCalls (kind: string): ApprovalLine | undefined {
      const at = besideCalls.findIndex((line) => line.kind === kind)
      return at === -1 ? undefined : besideCalls.splice(at, 1)[0]
    },
    /**
     * Returns the recorded approvals of calls that ran without an approval in this replay. Calls that did not run
     * are differences of their own.
     */
    unasked: (): ApprovalLine[] =>
      [...approvals].filter(([id, { kind, isContextual }]) => kind === 'tool' && !isContextual && !asked.has(id) && ran.has(id))
        .map(([, line]) => line)
  }
}

/** True if a model call without streaming is a step of the run: it asks for the structured answer. */
const isStep = ({ responseFormat }: LanguageModelV4CallOptions) => responseFormat?.type === 'json' && responseFormat.name === ANSWER_TOOL
