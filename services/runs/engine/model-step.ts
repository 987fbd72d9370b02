import type {
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart
} from '@ai-sdk/provider'
import type { Clock } from '../../lib/clock.ts'
import { type Compactor, type CompactorParts, type Conversation, openCompactor } from '../../threads/index.ts'
import { NOTE_OPENING } from '../../contracts/model-texts.ts'
import { type ContextWindows, type Registry, streamModel, withRecentImages } from '../../models/index.ts'
import type { ObjectAnswer } from '../answers/object-answer.ts'
import { ANSWER_TOOL } from '../../contracts/model-texts.ts'
import type { RunEvent } from '../../contracts/run-events.ts'
import { readInput, type ToolHost } from '../../tools/index.ts'
import type { Meter } from '../../usage/index.ts'
import { createStepWriter, type IdSource, type StepResult } from './step-writer.ts'

/** The collaborators of the model calls of one attempt at a run. */
export interface ModelStepParts {
  registry: Registry & ContextWindows
  clock: Clock
  signal: AbortSignal
  /** Counts and admits the calls. */
  meter: Meter
  tools: Pick<ToolHost, 'ready' | 'validate' | 'find'>
  ids: IdSource
  /** Load and store the summaries that replace older parts of the conversation. */
  summaries: Pick<CompactorParts, 'load' | 'keep'>
  /** Takes the events of the step as they arise: at least one for each part of the answer. */
  append: (event: RunEvent) => void
  /** Checks the run's limits after the parts that arrived together. A returned promise pauses the model stream. */
  afterParts: (parts: readonly LanguageModelV4StreamPart[]) => void | Promise<void>
}

/** One model call. */
export interface ModelStep extends Pick<Conversation, 'messages' | 'latest' | 'older' | 'places'> {
  step: number
  /** The model must answer without calling tools; `answer` may be called. */
  isLast: boolean
  /** The structured answer that the run owes. */
  owed?: ObjectAnswer
  /** User messages that the model gets for the first time with this step. */
  notes: readonly string[]
  /** Returns the messages before the conversation and the tools; called when the tool servers are ready. */
  context: () => Promise<{ opening: LanguageModelV4Prompt, tools: LanguageModelV4FunctionTool[] }>
}

const NO_STEPS_LEFT = 'The steps of this run are used up; no tool was called.'
const userMessage = (text: string): LanguageModelV4Message => ({ role: 'user', content: [{ type: 'text', text }] })
/** The last message of the last step. The system prompt must stay the same in all steps. */
const STEPS_USED_UP = userMessage(
  `${NOTE_OPENING} You have used all your steps with tools: answer with what you have, and say what is left to do.]`
)
/** The same where the run owes a structured answer. No choice of the tool is forced: models that reason refuse it. */
const ONLY_ANSWER_LEFT = userMessage(
  `${NOTE_OPENING} You have used all your steps with tools: call the tool ${ANSWER_TOOL} now, with what you have. No other tool runs.]`
)

/**
 * Returns the function that makes the model calls of one attempt: it fits the conversation into the model's window, streams the
 * answer as events, and validates the inputs of its calls. A valid call becomes `tool-input` and waits for its settlement; an
 * invalid call, and each call of the last step, becomes an error that the model sees. The caller appends `step-finish`. Rejects
 * like `streamModel` and `createStepWriter`.
 */
export function createModelSteps ({ registry, clock, signal, meter, tools: host, ids, summaries, append, afterParts }: ModelStepParts) {
  let compactor: Promise<Compactor> | undefined
  const answeredBy = (name: string) => host.find(name)?.answeredBy?.by

  return async ({ step, isLast, owed, notes, messages, context, ...placement }: ModelStep): Promise<StepResult> => {
    for (const text of notes) append({ type: 'message', text })
    append({ type: 'step-start', step })
    await host.ready(signal)
    const { opening, tools } = await context()
    compactor ??= openCompactor({
      registry,
      clock,
      signal,
      meter,
      ...summaries,
      onCompaction: (compaction) => append({ type: 'compaction', ...compaction })
    })
    const { compact } = await compactor
    const mayAnswer = owed !== undefined && tools.length > 0
    const isAnswer = (toolName: string) => mayAnswer && toolName === ANSWER_TOOL
    const described = tools.length > 0 ? tools : toolsCalled(messages)
    const conversation = { ...placement, opening, tools, messages: withRecentImages([...messages, ...notes.map(userMessage)]) }
    const { write, result } = createStepWriter({ append, ids, isAnswered: (name) => answeredBy(name) !== undefined })
    await streamModel({
      models: registry.candidates('capable'),
      load: registry.model,
      describe: registry.describeFailure,
      async prompt (id, tooLong) {
        const prompt = await compact(id, conversation, tooLong)
        return isLast && prompt !== undefined ? [...prompt, mayAnswer ? ONLY_ANSWER_LEFT : STEPS_USED_UP] : prompt
      },
      // Tools are described also where none may be called: providers refuse a history with calls of tools that are not described.
      options: {
        ...registry.callSettings('capable'),
        ...(described.length > 0 && {
          tools: described,
          toolChoice: { type: tools.length === 0 || (isLast && !mayAnswer) ? 'none' as const : 'auto' as const }
        }),
        ...(owed !== undefined && tools.length === 0 && { responseFormat: owed.responseFormat })
      },
      signal,
      clock,
      meter,
      onParts (parts, id) {
        for (const part of parts) write(part, id)
        return afterParts(parts)
      }
    })
    for (const { toolCallId, toolName, input: text, providerMetadata } of result.calls) {
      const checked = readInput(toolName, text, owed !== undefined && isAnswer(toolName) ? owed.validateCall : host.validate)
      const call = { toolCallId, toolName, input: checked.input, providerMetadata }
      const errorText = isLast && !isAnswer(toolName) ? NO_STEPS_LEFT : checked.ok ? undefined : checked.error
      const app = answeredBy(toolName) === 'app' && { app: true as const }
      append(errorText === undefined ? { type: 'tool-input', ...call, ...app } : { type: 'tool-input-error', ...call, errorText })
    }
    return isLast && result.calls.some(({ toolName }) => !isAnswer(toolName)) ? { ...result, finishReason: 'length' } : result
  }
}

/** Stubs of the tools that a conversation has calls of. */
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
