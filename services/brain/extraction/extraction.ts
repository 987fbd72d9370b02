import { createError } from '@fastify/error'
import type { Static, TSchema } from '@sinclair/typebox'
import type { Extraction } from '../../../schemas/brain.ts'
import { createKeyedLock } from '../../lib/keyed-lock.ts'
import type { ThreadMessage, ThreadRepository, ReadPosition } from '../../threads/thread-repository.ts'
import { ThreadNotFound } from '../../threads/thread-errors.ts'
import { textOf } from '../../threads/thread-message.ts'
import type { BrainService, Observed, Retraction } from '../brain.ts'
import { sincereMessages, deniesPrevious } from './english/sincerity.ts'
import { INSTRUCTIONS, PointersSchema, readByRules, readDenials, readPointers, type Found } from './read-messages.ts'

const ModelFailed = createError(
  'ERR_UPSTREAM',
  'The model of role "fast" could not be asked for facts: its answer %s. Try again, or test it with POST /providers/test.',
  502
)

/** A message of the user in a thread. */
interface Said {
  text: string
  at: number
  said: number
  id?: string
  [field: string]: unknown
}

export interface ExtractionParts {
  threads: ThreadRepository
  brain: Pick<BrainService, 'hear' | 'from'>
  /** Asks the model of role `fast`; undefined when that is the offline one, whose place rules take. */
  ask: <S extends TSchema>(
    question: { name: string, schema: S, instructions: string, text: string, signal: AbortSignal }
  ) => Promise<{ value: Static<S> } | { problem: string }>
  isOffline: () => boolean
}

export type Extractor = ReturnType<typeof createExtraction>

/** Characters that one question to the model holds, and how many questions a thread is worth. */
const QUESTION = 12_000
const QUESTIONS = 10
/** Messages of the user that are looked at, the newest. */
const MESSAGES = 500

/** Learns what the user says of themselves in threads: their own words, and nothing else that stands there. */
export function createExtraction ({ threads, brain, ask, isOffline }: ExtractionParts) {
  /** One at a time: what one finds, the next knows. */
  const locked = createKeyedLock()

  /** The user's messages from the `n`-th on that are meant, and which of all of them the next one calls untrue. */
  async function messagesOf (
    id: string,
    { read: n, isPart: wasPart }: Pick<ReadPosition, 'read' | 'isPart'>
  ): Promise<{ meant: Said[], untrue: Array<{ untrue: Said, by: Said }>, isPart: boolean }> {
    // The one before tells what the first new one may mean.
    const turns = (await threads.turns(id, Math.max(n - 1, 0))).slice(-MESSAGES - 1)
    const before = n > 0 || turns.length > MESSAGES ? 1 : 0
    const said: Said[] = []
    for (const { at, said: time, id: messageId } of turns) {
      const [message] = await threads.messages(id, { from: at, limit: 1 })
      said.push({
        text: message === undefined ? '' : beginning(wordsOf(message)),
        at,
        said: time,
        ...(messageId !== undefined && { id: messageId })
      })
    }
    const { isMeant, isPart } = sincereMessages(said.map(({ text }) => text), wasPart)
    return {
      meant: said.filter((_message, at) => at >= before && isMeant[at]),
      untrue: said.flatMap((by, at) => at > 0 && deniesPrevious(by.text) ? [{ untrue: said[at - 1], by }] : []),
      isPart
    }
  }

  async function read (messages: Said[], signal: AbortSignal): Promise<Array<Found<Said>>> {
    if (isOffline()) return readByRules(messages)
    const found: Array<Found<Said>> = []
    for (const shown of batches(messages.filter(({ text }) => text.trim() !== '')).slice(-QUESTIONS)) {
      const text = shown.map(({ text }, n) => `[${n + 1}] ${text}`).join('\n\n')
      const answer = await ask({ name: 'facts', schema: PointersSchema, instructions: INSTRUCTIONS, text, signal })
      if ('problem' in answer) throw new ModelFailed(answer.problem)
      found.push(...readPointers(shown, answer.value))
    }
    return found
  }

  return {
    /**
     * Looks through a thread for what is not known yet: all of it, or only what was said since it was last looked
     * through. Throws ThreadNotFound (404) and ModelFailed (502).
     */
    extract: (
      id: string,
      { signal = new AbortController().signal, since = 'start' }: { signal?: AbortSignal, since?: 'start' | 'last' } = {}
    ): Promise<Extraction> =>
      locked('', async () => {
        if (await threads.get(id) === undefined) throw new ThreadNotFound(id)
        const state = await threads.unread(id)
        const { meant, untrue, isPart } = await messagesOf(id, since === 'last' ? state : { read: 0 })
        const heard: Observed[] = (await read(meant, signal)).map(({ text, span, words, ...statement }) => ({
          ...statement,
          fact: span,
          said: words.said,
          source: { threadId: id, message: words.at, ...(words.id !== undefined && { messageId: words.id }), span }
        }))
        const unsaid = [
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
        const added = heard.length + unsaid.length > 0 ? await brain.hear(heard, unsaid) : 0
        await threads.markRead(id, { ...state, isPart })
        return { ...await brain.from(id), added }
      })
  }
}

/** What a message says in words, its parts apart: a sentence does not go on in another part. */
const wordsOf = (message: ThreadMessage) => textOf(message, '\n')

/** As much of a text as may be looked at; a copy, so that the rest of it is not kept. */
const beginning = (text: string) => text.length > QUESTION ? Buffer.from(text.slice(0, QUESTION)).toString() : text

/** Messages in order, as many together as one question holds. */
function batches (messages: Said[]): Said[][] {
  const all: Said[][] = [[]]
  let room = QUESTION
  for (const message of messages) {
    if (message.text.length > room) {
      all.push([])
      room = QUESTION
    }
    all.at(-1)!.push(message)
    room -= message.text.length
  }
  return all.filter(({ length }) => length > 0)
}
