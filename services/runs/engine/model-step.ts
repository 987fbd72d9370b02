import type {
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart
} from '@ai-sdk/provider'
import type { AnsweredBy } from '../../../schemas/run-options.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Deadline } from '../../lib/deadline.ts'
import { jsonOfFixed } from '../../lib/json.ts'
import { type Compactor, type CompactorParts, type Conversation, openCompactor } from '../../threads/index.ts'
import { NOTE_OPENING } from '../../contracts/model-texts.ts'
import {
  type ContextWindows,
  offeredTools,
  type Registry,
  streamModel,
  TOOL_LEFT_OUT,
  tokensInSame,
  tokensOf,
  withOriginalNames,
  withRecentImages
} from '../../models/index.ts'
import type { ObjectAnswer } from '../answers/object-answer.ts'
import { ANSWER_TOOL, PLAN_TOOL } from '../../contracts/model-texts.ts'
import type { EventOf, NoticeCode, RunEvent } from '../../contracts/run-events.ts'
import { asToldTools, nameMeant, otherNameMeant, readInput, type ToolHost } from '../../tools/index.ts'
import type { Meter } from '../../usage/index.ts'
import { createStepWriter, type IdSource, type StepResult } from './step-writer.ts'

/** The collaborators that the model calls of one attempt at a run need. An attempt is one uninterrupted execution of the run. */
interface ModelStepParts {
  registry: Registry & ContextWindows
  clock: Clock
  signal: AbortSignal
  /** Counts the model calls and refuses those beyond a budget. */
  meter: Meter
  /** Stops the clock of the run's time limit until the promise settles. */
  pause: Deadline['pause']
  tools: Pick<ToolHost, 'ready' | 'validate' | 'find'>
  ids: IdSource
  /** Loads and stores the summaries that replace older parts of the conversation. */
  summaries: Pick<CompactorParts, 'load' | 'keep'>
  /** Receives the events of the step as they occur, at least one for each part of the answer. */
  append: (event: RunEvent) => void
  /** Called for each piece of the answer with the model that answers and its reasoning effort. */
  onAnswer?: (by: AnsweredBy) => void
  /** Called for each call whose name or input was corrected to fit a tool. */
  onMended?: (call: { toolCallId: string, toolName: string, named?: string }) => void
  /** Called with the parts that arrived together, to check the run's limits. A returned promise pauses the model stream. */
  afterParts: (parts: readonly LanguageModelV4StreamPart[]) => void | Promise<void>
}

/** One model call. */
interface ModelStep extends Pick<Conversation, 'messages' | 'latest' | 'older' | 'places'> {
  step: number
  /** Why this is the last step. Calls of the last step are not executed, except calls of the tool `answer`. */
  lastWord?: 'steps' | 'repeating' | 'no-progress'
  /** The structured answer that the run must give. */
  owed?: ObjectAnswer
  /** The messages that the model gets for the first time in this step. */
  notes: ReadonlyArray<EventOf<'message' | 'steer'>>
  /** Returns the prompt with additions of the owner, such as the list of refused calls. */
  complete?: (prompt: LanguageModelV4Prompt) => LanguageModelV4Prompt
  /** Returns the messages before the conversation, and the tools. Called when the tool servers are ready. */
  context: () => Promise<ModelContext>
}

/** What a model gets in addition to the conversation. */
export interface ModelContext {
  /** The messages before the conversation. */
  opening: LanguageModelV4Prompt
  tools: LanguageModelV4FunctionTool[]
  deferred?: readonly string[]
  /**
   * Called after a provider has refused the number of tools. Returns the context with as many tools as the provider accepts; undefined if
   * there cannot be fewer.
   */
  fewerTools: () => Promise<ModelContext | undefined>
}

/** The newest request to a model. */
interface Asked {
  id: string
  prompt: LanguageModelV4Prompt
}

const NO_STEPS_LEFT = 'No tool is called any more in this run.'
const CUT_OFF = 'This call was cut off, because the answer reached its greatest length, and was not carried out. Do the same in parts: ' +
  'write the beginning of a long text first, and add the rest with further calls.'
/** The notice to the user for each feature that a model did not accept. */
const LEFT_OUT: Record<string, [NoticeCode, string]> = {
  tools: ['no-tools', 'This model takes no tools, so they were described to it in words. Other models use them more surely.'],
  pictures: ['no-pictures', 'This model takes no pictures, so they were left out. Choose another model for what they show.'],
  'a file': [
    'file-refused',
    'The provider refused a file of this conversation, so the model answers without it. Attach another copy if it matters.'
  ]
}
const toolRefused = (which: string) =>
  `The provider refused the definition of a tool, so the model answers without it (${which}). Another model may take it; the page of its ` +
  'tool server names it, too.'
const promptCut = (id: string, window: number, sent: number) =>
  `The server of ${id} read only the last ${window} of about ${sent} tokens, so the model does not know the beginning. Give it a larger ` +
  'context window and start it again; for Ollama set OLLAMA_CONTEXT_LENGTH=32768, or move the slider for the context length in its ' +
  'settings. Until then the conversation is shortened to what it reads.'
const NOT_WHOLE = 'The input of this call did not arrive as a whole, so it was not carried out. Make the call again.'
const itself = (prompt: LanguageModelV4Prompt) => prompt
const userMessage = (text: string): LanguageModelV4Message => ({ role: 'user', content: [{ type: 'text', text }] })
const REASONS = {
  steps: 'You have used all your steps with tools',
  repeating: 'You made the same calls again and again',
  'no-progress': 'None of your last calls could be carried out'
}
/**
 * Returns the last message of the last step. System prompt and tools stay the same in all steps, so that a provider's cache serves them.
 * The tool choice is not forced, because reasoning models refuse that.
 */
const lastMessage = (why: keyof typeof REASONS, mayAnswer: boolean) =>
  userMessage(
    `${NOTE_OPENING} ${REASONS[why]}, and no tool runs any more: ` +
      (mayAnswer
        ? `call the tool ${ANSWER_TOOL} now, with what you have.]`
        : 'answer with what you have, and say what is done and what is left to do.]')
  )

/**
 * Returns the function that makes the model calls of one attempt. It fits the conversation into the model's context window, streams the
 * answer as events, and validates the inputs of the tool calls. A valid call becomes `tool-input` and waits until it is settled. An invalid
 * call, and each call of the last step, becomes an error that the model sees. The caller appends `step-finish`. Rejects like `streamModel`
 * and `createStepWriter`.
 */
export function createModelSteps (
  { registry, clock, signal, meter, pause, tools: host, ids, summaries, append, afterParts, onAnswer, onMended }: ModelStepParts
) {
  let compactor: Promise<Compactor> | undefined
  const noticed = new Set<NoticeCode>()
  const notice = (code: NoticeCode, text: string) => {
    if (noticed.has(code)) return
    noticed.add(code)
    append({ type: 'notice', code, text })
  }
  /** Tells the user which part of the request the model did not accept. */
  const tellLeftOut = (part: LanguageModelV4StreamPart) => {
    if (part.type !== 'stream-start') return
    for (const warning of part.warnings) {
      if (warning.type !== 'unsupported') continue
      const leftOut = LEFT_OUT[warning.feature]
      if (leftOut !== undefined) notice(...leftOut)
      if (warning.feature === TOOL_LEFT_OUT) append({ type: 'notice', code: 'tool-refused', text: toolRefused(warning.details ?? '') })
    }
  }
  /** Tells the user that a model server that is not in the cloud has read only the end of a prompt. */
  async function tellCutPrompt ({ id, prompt }: Asked, tools: LanguageModelV4FunctionTool[], read: number): Promise<void> {
    if (registry.reach(id) === 'cloud') return
    const sent = prompt.reduce((sum, message) => sum + tokensOf(message), tokensInSame(jsonOfFixed(tools)))
    const window = await registry.windowOfCut(id, { sent, read }, signal)
    if (window !== undefined) notice('prompt-cut', promptCut(id, window, sent))
  }
  const answeredBy = (name: string) => host.find(name)?.execute.by

  return async ({ step, lastWord, owed, notes, complete = itself, messages, context, ...placement }: ModelStep): Promise<StepResult> => {
    notes.forEach(append)
    append({ type: 'step-start', step })
    await host.ready(signal)
    let given = await context()
    compactor ??= openCompactor({
      registry,
      clock,
      signal,
      meter,
      ...summaries,
      onCompaction: (compaction) => append({ type: 'compaction', ...compaction })
    })
    const { compact } = await compactor
    const mayAnswer = owed !== undefined && given.tools.length > 0
    const isAnswer = (toolName: string) => mayAnswer && toolName === ANSWER_TOOL
    const described = () => given.tools.length > 0 ? given.tools : toolsCalled(messages)
    const told = notes.map(({ text }) => userMessage(text))
    const shown = withRecentImages([...messages, ...told])
    const names = () => [...given.tools.map((tool) => tool.name), ...given.deferred ?? []]
    const toolMeant = (name: string, input?: string) =>
      nameMeant(name, names(), (each) => host.find(each) !== undefined) ??
        (input === undefined ? undefined : otherNameMeant(name, input, { names: names(), find: host.find, validate: host.validate }))
    // Tools are described even if none can be called, because providers refuse a history with calls of tools that are not described.
    const options = () => ({
      ...registry.callSettings('capable'),
      ...(described().length > 0 && {
        tools: described(),
        toolChoice: { type: given.tools.length === 0 ? 'none' as const : 'auto' as const }
      }),
      ...(owed !== undefined && given.tools.length === 0 && { responseFormat: owed.responseFormat })
    })
    const { reasoning: effort } = registry.callSettings('capable')
    const newWriter = () => createStepWriter({
      ...{ step, append, ids, toolMeant },
      offered: given.tools.length === 0 ? undefined : offeredTools(given, toolMeant),
      isAnswered: (name) => answeredBy(name) !== undefined
    })
    let writer = newWriter()
    let asked: Asked | undefined
    await streamModel({
      models: registry.candidates('capable'),
      load: registry.model,
      describe: registry.describeFailure,
      async prompt (id, tooLong) {
        const { opening, tools, deferred = [] } = given
        const compacted = await compact(id, { ...placement, opening, tools, messages: shown }, tooLong)
        if (compacted === undefined) return undefined
        const prompt = asToldTools(complete(withPlan(compacted, shown)), deferred)
        asked = { id, prompt: lastWord === undefined ? prompt : [...prompt, lastMessage(lastWord, mayAnswer)] }
        return asked.prompt
      },
      options: options(),
      async withFewerTools (id, error) {
        registry.noteToolsRefused(id, { sent: described().length, words: registry.providerWords(error) ?? '' })
        const fewer = await given.fewerTools()
        if (fewer === undefined) return undefined
        given = fewer
        return options()
      },
      signal,
      clock,
      meter,
      pause,
      timeouts: registry.timeouts,
      onDropped (dropped) {
        append({ type: 'retry', ...dropped, ...writer.broken() })
        append({ type: 'step-start', step })
        writer = newWriter()
      },
      onWaiting: (sinceMs) => append({ type: 'waiting', for: 'model', sinceMs }),
      onParts (parts, id) {
        onAnswer?.({ model: id, ...(effort && { effort }) })
        for (const part of parts) {
          tellLeftOut(part)
          writer.write(part, id)
        }
        if (!writer.result.isLooping) return afterParts(parts)
        writer.cut()
        return 'enough'
      }
    })
    const { result } = writer
    if (asked !== undefined) await tellCutPrompt(asked, described(), result.usage.inputTokens)
    const isCut = result.finishReason === 'length'
    for (const { toolCallId, toolName, input: text, providerMetadata, isFromText, named } of result.calls) {
      const isOwed = owed !== undefined && isAnswer(toolName)
      const schema = isOwed ? owed.tool.inputSchema : host.find(toolName)?.model.schema
      const validate = isOwed ? owed.validateCall : host.validate
      const checked = readInput(toolName, text, (name, input) => validate(name, schema ? withOriginalNames(schema, input) : input), isCut)
      if (named !== undefined || (checked.ok && checked.isMended)) onMended?.({ toolCallId, toolName, ...(named && { named }) })
      const call = { toolCallId, toolName, input: checked.input, providerMetadata }
      const wrong = checked.ok ? undefined : isCut && !checked.isJson ? CUT_OFF : checked.error
      const errorText = lastWord !== undefined && !isAnswer(toolName) ? NO_STEPS_LEFT : wrong
      const app = answeredBy(toolName) === 'app' && { app: true as const }
      append(
        errorText === undefined
          ? { type: 'tool-input', ...call, ...app, ...(isFromText && { isFromText }) }
          : { type: 'tool-input-error', ...call, errorText }
      )
    }
    for (const call of result.cut) append({ type: 'tool-input-error', ...call, input: {}, errorText: isCut ? CUT_OFF : NOT_WHOLE })
    const isUnheard = lastWord !== undefined && result.calls.some(({ toolName }) => !isAnswer(toolName))
    return isUnheard ? { ...result, finishReason: 'length' } : result
  }
}

/**
 * Returns the prompt with the newest plan of the conversation added at the end, if the call that showed the plan was summarised or left
 * out.
 */
function withPlan (prompt: LanguageModelV4Prompt, messages: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const newest = messages.flatMap(callsIn).findLast(({ toolName }) => toolName === PLAN_TOOL)
  if (newest === undefined || prompt.flatMap(callsIn).includes(newest)) return prompt
  return [...prompt, userMessage(`${NOTE_OPENING} Your plan, as you showed it last: ${JSON.stringify(newest.input)}]`)]
}

const callsIn = (message: LanguageModelV4Message) =>
  message.role === 'assistant' ? message.content.filter((part) => part.type === 'tool-call') : []

/** Returns minimal descriptions of the tools whose calls are in the conversation. */
function toolsCalled (messages: LanguageModelV4Prompt): LanguageModelV4FunctionTool[] {
  const parts = messages.flatMap((message) => message.role === 'assistant' ? message.content : [])
  const names = new Set(parts.flatMap((part) => part.type === 'tool-call' ? [part.toolName] : []))
  return [...names].map((name) => ({
    type: 'function',
    name,
    description: 'Cannot be called in this run.',
    inputSchema: { type: 'object', properties: {} }
  }))
}
