import { defineError } from '../../lib/service-error.ts'
import type { Static, TSchema } from '@sinclair/typebox'
import type { Extraction } from '../../../schemas/brain.ts'
import { createKeyedLock } from '../../lib/keyed-lock.ts'
import type { ThreadMessage, ThreadRepository, ReadPosition } from '../../threads/thread-repository.ts'
import { ThreadNotFound } from '../../threads/thread-errors.ts'
import { textOf } from '../../threads/thread-message.ts'
import type { BrainService, Observed, Retraction } from '../brain.ts'
import { sincereMessages, deniesPrevious } from './english/sincerity.ts'
import { INSTRUCTIONS, PointersSchema, readByRules, readDenials, readPointers, type Found } from './read-messages.ts'

const ModelFailed = defineError(
  'ERR_UPSTREAM',
  'The model of role "fast" did not extract facts: its answer %s. Try again, or test the model with POST /providers/test.'
)

/** A message of the user in a thread. */
interface UserMessage {
  text: string
  at: number
  said: number
  id?: string
  [field: string]: unknown
}

export interface ExtractionParts {
  threads: ThreadRepository
  brain: Pick<BrainService, 'ingest' | 'from'>
  /** Asks the model of role `fast`. Not called when that model is the offline model; rules replace it then. */
  ask: <S extends TSchema>(
    question: { name: string, schema: S, instructions: string, text: string, signal: AbortSignal }
  ) => Promise<{ value: Static<S> } | { problem: string }>
  isOffline: () => boolean
}

export type Extractor = ReturnType<typeof createExtraction>

/** Characters of messages in one model call. */
const MAX_CHARACTERS = 12_000
/** Model calls for one extraction. */
const MAX_CALLS = 10
/** Messages of the user that one extraction reads; the newest count. */
const MAX_MESSAGES = 500

/** Extracts the user's statements about themselves from threads. Only the user's own words count. */
export function createExtraction ({ threads, brain, ask, isOffline }: ExtractionParts) {
  /** Extractions run one at a time, so that each knows the results of the previous one. */
  const locked = createKeyedLock()

  /** The sincere messages of the user from the `n`-th on, and the messages that the next message calls untrue. */
  async function messagesOf (
    id: string,
    { read: n, isPart: wasPart }: Pick<ReadPosition, 'read' | 'isPart'>
  ): Promise<{ meant: UserMessage[], untrue: Array<{ untrue: UserMessage, by: UserMessage }>, isPart: boolean }> {
    // The message before the first new message is needed as context.
    const userTurns = (await threads.turns(id, Math.max(n - 1, 0))).slice(-MAX_MESSAGES - 1)
    const before = n > 0 || userTurns.length > MAX_MESSAGES ? 1 : 0
    const messages: UserMessage[] = []
    for (const { at, said: time, id: messageId } of userTurns) {
      const [message] = await threads.messages(id, { from: at, limit: 1 })
      messages.push({
        text: message === undefined ? '' : beginning(wordsOf(message)),
        at,
        said: time,
        ...(messageId !== undefined && { id: messageId })
      })
    }
    const { isSincere, isPart } = sincereMessages(messages.map(({ text }) => text), wasPart)
    return {
      meant: messages.filter((_message, at) => at >= before && isSincere[at]),
      untrue: messages.flatMap((by, at) => at > 0 && deniesPrevious(by.text) ? [{ untrue: messages[at - 1], by }] : []),
      isPart
    }
  }

  async function read (messages: UserMessage[], signal: AbortSignal): Promise<Array<Found<UserMessage>>> {
    if (isOffline()) return readByRules(messages)
    const found: Array<Found<UserMessage>> = []
    for (const shown of batches(messages.filter(({ text }) => text.trim() !== '')).slice(-MAX_CALLS)) {
      const text = shown.map(({ text }, n) => `[${n + 1}] ${text}`).join('\n\n')
      const answer = await ask({ name: 'facts', schema: PointersSchema, instructions: INSTRUCTIONS, text, signal })
      if ('problem' in answer) throw new ModelFailed(answer.problem)
      found.push(...readPointers(shown, answer.value))
    }
    return found
  }

  return {
    /**
     * Extracts new statements from a thread: from the whole thread, or only from messages since the last extraction.
     * Throws ThreadNotFound (404) and ModelFailed (502).
     */
    extract: (
      id: string,
      { signal = new AbortController().signal, since = 'start' }: { signal?: AbortSignal, since?: 'start' | 'last' } = {}
    ): Promise<Extraction> =>
      locked('', async () => {
        if (await threads.get(id) === undefined) throw new ThreadNotFound(id)
        const state = await threads.unread(id)
        const { meant, untrue, isPart } = await messagesOf(id, since === 'last' ? state : { read: 0 })
        const statements: Observed[] = (await read(meant, signal)).map(({ text, span, words, ...statement }) => ({
          ...statement,
          fact: span,
          said: words.said,
          source: { threadId: id, message: words.at, ...(words.id !== undefined && { messageId: words.id }), span }
        }))
        const retractions = [
          ...readDenials(meant).map(({ statement, words }): Retraction => ({
            statement,
            said: words.said,
            source: { threadId: id, message: words.at }
          })),
          ...untrue.map(({ untrue, by }): Retraction => ({
            message: untrue.at,
            text: untrue.text,
            said: by.said,
            source: { threadId: id, message: by.at }
          }))
        ]
        const added = statements.length + retractions.length > 0 ? await brain.ingest(statements, retractions) : 0
        await threads.markRead(id, { ...state, isPart })
        return { ...await brain.from(id), added }
      })
  }
}

/** The text of a message. Its parts are on separate lines, because a sentence does not continue in another part. */
const wordsOf = (message: ThreadMessage) => textOf(message, '\n')

/** The beginning of a text that may be read. It is a copy, so that the rest of a long text can be freed. */
const beginning = (text: string) => text.length > MAX_CHARACTERS ? Buffer.from(text.slice(0, MAX_CHARACTERS)).toString() : text

/** Groups messages in order, as many in a group as fit into one model call. */
function batches (messages: UserMessage[]): UserMessage[][] {
  const all: UserMessage[][] = [[]]
  let remaining = MAX_CHARACTERS
  for (const message of messages) {
    if (message.text.length > remaining) {
      all.push([])
      remaining = MAX_CHARACTERS
    }
    all.at(-1)!.push(message)
    remaining -= message.text.length
  }
  return all.filter(({ length }) => length > 0)
}
