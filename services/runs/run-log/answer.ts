import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { isHeld, type RunEvent } from '../../contracts/run-events.ts'
import { ANSWER, markOf, REVISION_MARK, steerMessage, type StoredAnswer, type ThreadMessage } from '../../threads/index.ts'
import { CHAT_ENCODINGS } from '../streams/encoder.ts'
import { foldToModelMessages } from './fold.ts'
import { steeringIn, steerOf } from './steering.ts'
import { foldToUIMessage, type UIAnswer } from './ui-message.ts'

const asJson = (output: Record<string, unknown>) => ({ type: 'json' as const, value: output as never })

/** Returns the messages of a run's answer so far, as ModelMessages of the AI SDK, including the user's messages during the run. */
export function answerMessages (events: readonly RunEvent[]): ThreadMessage[] {
  const asMessage = (event: Parameters<typeof steerOf>[0]) => steerMessage(steerOf(event), false) as never
  const visible = events.flatMap((event) => isHeld(event) ? [] : event.type === 'revision' ? revisionEvents(event.text) : [event])
  const messages = foldToModelMessages(visible, asJson, asMessage) as LanguageModelV4Prompt as ThreadMessage[]
  const left = steeringIn(events).filter(({ state }) => state !== 'read')
  return [
    ...messages.filter((message) => message.role !== 'user' || markOf(message) !== undefined),
    ...left.map((event) => steerMessage(steerOf(event), false))
  ]
}

/** Returns events that show the second version of an answer as a message after the first version. */
const revisionEvents = (delta: string): RunEvent[] => [
  { type: 'step-start', step: 0 },
  { type: 'text-start', id: 'revision', providerMetadata: REVISION_MARK },
  { type: 'text-delta', id: 'revision', delta },
  { type: 'text-end', id: 'revision' }
]

/** The data from which an answer is made. */
interface AnswerParts {
  stored: Omit<StoredAnswer, 'count'>
  events: readonly RunEvent[]
  /** The message that the answer continues. */
  base?: ThreadMessage
}

/**
 * Makes the answer of a run from its events: the message that chats show, with its other forms in `[ANSWER]`. Returns undefined if no part
 * of it was sent to a client.
 */
export function answerOf ({ stored, events, base }: AnswerParts): ThreadMessage | undefined {
  const { protocol } = stored
  const isChat = protocol !== 'documented'
  const message: ThreadMessage = foldToUIMessage(events, {
    encode: CHAT_ENCODINGS[protocol],
    answered: stored.answered,
    base: isChat ? base as Partial<UIAnswer> | undefined : undefined
  })
  let prompt: ThreadMessage[] | undefined
  const promptOf = () => {
    prompt ??= answerMessages(events).filter((message) => markOf(message)?.state !== 'unread')
    return prompt
  }
  const written = isChat ? [{ ...message }] : promptOf()
  if (isChat ? (message.parts as unknown[]).length === 0 : written.length === 0) return undefined
  message[ANSWER] = {
    stored: { ...stored, count: written.length },
    written,
    // Computed at first use, because most readers of a thread do not need the form for models.
    get prompt () {
      return base === undefined ? promptOf() : undefined
    }
  }
  return message
}
