import type { Protocol, RunBody } from '../../schemas/agent.ts'
import type { ReplacedChanges } from '../../schemas/undo.ts'
import { type History, type ResolvedOptions, WHOLE_THREAD } from '../runs/index.ts'
import { type RawMessage, type RequestPlace, saidAgain, unmarked, withoutModelMarks } from '../threads/index.ts'
import type { AgentDeps } from './agent-deps.ts'
import type { Origin } from './message-import.ts'
import { threadPosition } from './thread-history.ts'

/** A request with its history. */
export interface RunRequest extends RunBody {
  messages: RawMessage[]
  protocol: Protocol
  /** The positions in the thread of the messages before the last one; undefined if the request contained them. */
  history?: History
  /** Set if the last message takes the place of a stored message with its id. `history` then ends before that place. */
  replaces?: true
  /** The options of the run that is continued. They replace the options of this request. */
  kept?: ResolvedOptions
  /** Messages of the user to the continued run that none of its steps has read. */
  unread?: Array<{ id: string, text: string }>
  /** See `ThreadRun`. */
  isOneOff?: true
  /** See `SubscriberOptions`. */
  lingerMs?: number
}

/** The messages that a run begins with. */
export interface RequestMessages {
  messages: RawMessage[]
  /** The positions in the thread of the messages before the new ones; undefined if the messages are not all from the thread. */
  history: History | undefined
  /**
   * The place where the request continues the thread; undefined if the history was read from the thread, so that the request continues its
   * end.
   */
  place?: RequestPlace
  originOf: (n: number) => Origin
  /** The changes of replaced answers that were undone. */
  undone?: ReplacedChanges
}

const ofThread = (history: History | undefined, n: number): Origin => ({
  name: `messages[${history === undefined ? n : threadPosition(history, n)}] of the thread`,
  isStored: true
})

const ofRequest = (index: number): Origin => ({ name: `messages[${index}]`, isStored: false })

/** Returns the messages of a request whose history was read from its thread, without unread messages that the request repeats. */
function withReadHistory ({ messages, history, continue: isContinued = false }: RunRequest): RequestMessages {
  if (isContinued) return { messages, history, originOf: (n) => ofThread(history, n) }
  const newest = unmarked(withoutModelMarks(messages.at(-1)!)) as RawMessage
  const before = messages.slice(0, -1)
  const last = before.length - saidAgain(before, newest)
  return {
    messages: [...before.slice(0, last), newest],
    history,
    originOf: (n) => n < last ? ofThread(history, n) : { name: 'message', isStored: false }
  }
}

/**
 * Returns the messages that a run begins with, and the place where the request continues the thread; see `placeRequest`. Answers are taken
 * from the thread instead of the request, because only the thread proves which model made a part.
 */
export async function messagesOfRequest (
  request: RunRequest,
  threadId: string,
  { threads }: Pick<AgentDeps, 'threads'>
): Promise<RequestMessages> {
  const { history, replaces = false } = request
  if (history !== undefined && !replaces) return withReadHistory(request)
  const own = request.messages.map(withoutModelMarks)
  const [before, newest] = [own.slice(0, -1), unmarked(own.at(-1)!)]
  const messages = replaces ? [newest] : [...before, newest]
  const place = await threads.place(threadId, { ...request, messages, isChat: request.protocol !== 'documented' })
  if (replaces) {
    return {
      messages: [...before, ...place.fresh as RawMessage[]],
      place,
      history,
      originOf: (n) => n < before.length ? ofThread(history, n) : { name: 'message', isStored: false }
    }
  }
  return {
    messages: place.messages as RawMessage[],
    place,
    // The positions are unknown if the client's messages are not all messages of the thread.
    history: place.at + place.fresh.length === place.messages.length ? WHOLE_THREAD : undefined,
    originOf: (n) => place.places[n] === undefined ? ofThread(undefined, n) : ofRequest(place.places[n])
  }
}
