import type { Store } from '../store/store-types.ts'
import type { ThreadHead } from './thread-head.ts'
import { partsOf, tellings, type ThreadMessage } from './thread-message.ts'
import type { UserTurn, HistoryMatch } from './history-match.ts'

/** The messages of a request with the thread's own in the place of the client's copies of them. */
export interface Recalled {
  messages: ThreadMessage[]
  /** Where each message stands in the request; undefined for one that comes from the thread. */
  places: Array<number | undefined>
}

interface Parts {
  store: Pick<Store, 'digest'>
  turns: Pick<HistoryMatch, 'read' | 'shared' | 'windowEnd' | 'position'>
  get: (id: string) => Promise<ThreadHead | undefined>
  lastMessages: (id: string, page: { end: number, limit: number }) => Promise<{ messages: ThreadMessage[] }>
}

/** Messages are recalled from a multiple of this on, and at most two such blocks: the beginning moves only now and then. */
const BLOCK = 1_000

/**
 * Takes the answers in a request's history from the thread. The thread holds what the model said and saw: thinking with its
 * signature, inputs and outputs of calls. A client's copy may lack or change that. Which conversation it is the user's
 * messages say; an answer whose text or calls are not the thread's is the client's own, and no model's mark in it counts.
 */
export function createRecall ({ store, turns, get, lastMessages }: Parts) {
  /** Up to which turn of the thread the request holds it, and how many of its turns that are. */
  async function matched (thread: string, count: number, theirs: UserTurn[]): Promise<{ turns: number, end: number }> {
    const earlier = theirs.length - 1
    const common = Math.min(await turns.shared(thread, count, theirs), earlier)
    if (common > 0) return { turns: common, end: common }
    const end = await turns.windowEnd(thread, count, theirs)
    return { turns: end > 0 ? earlier : 0, end }
  }

  return async function recall (id: string, said: ThreadMessage[]): Promise<Recalled> {
    const head = await get(id)
    const theirs = await turns.read(said)
    const answers = new Map<number, ThreadMessage[]>()
    if (head !== undefined && head.turns > 0 && theirs.length > 1) {
      const thread = store.digest(id)
      const { turns: count, end: last } = await matched(thread, head.turns, theirs)
      const end = count === 0 ? 0 : await turns.position(thread, last, { count: head.turns, length: head.messageCount })
      const from = Math.max(0, Math.floor(end / BLOCK) * BLOCK - BLOCK)
      let ours = end > from ? (await lastMessages(id, { end, limit: end - from })).messages : []
      for (let n = count - 1; n >= 0 && ours.length > 0; n--) {
        const at = ours.findLastIndex(({ role }) => role === 'user')
        if (at >= 0 && isCopy(said.slice(theirs[n].at + 1, theirs[n + 1].at), ours.slice(at + 1))) {
          answers.set(theirs[n].at, ours.slice(at + 1))
        }
        ours = ours.slice(0, Math.max(at, 0))
      }
    }
    const recalled: Recalled = { messages: [], places: [] }
    let isReplaced = false
    for (const [at, message] of said.entries()) {
      if (message.role === 'user') isReplaced = false
      if (isReplaced) continue
      recalled.messages.push(unmarked(message))
      recalled.places.push(at)
      const answer = answers.get(at)
      if (answer === undefined) continue
      recalled.messages.push(...answer)
      recalled.places.push(...answer.map(() => undefined))
      isReplaced = true
    }
    return recalled
  }
}

const callsIn = (messages: ThreadMessage[]): string[] =>
  messages.filter(({ role }) => role === 'assistant').flatMap(partsOf)
    .flatMap((part) => typeof part?.toolCallId === 'string' && part.type !== 'tool-approval-request' ? [part.toolCallId] : [])

/** Whether a client's messages between two of the user are a copy of the thread's: they tell the same, and make no other calls. */
function isCopy (theirs: ThreadMessage[], ours: ThreadMessage[]): boolean {
  if (
    ours.length === 0 || !theirs.some(({ role }) => role === 'assistant') ||
    theirs.some(({ role }) => role !== 'assistant' && role !== 'tool')
  ) return false
  const made = new Set(callsIn(ours))
  if (!callsIn(theirs).every((id) => made.has(id))) return false
  const told = tellings(ours)
  const [whole, ...end] = tellings(theirs)
  return whole === '' ? told[0] === '' : [whole, ...end].some((text) => text !== '' && told.includes(text))
}

/** Where parts carry what a provider attached to them. */
const ATTACHED = ['providerMetadata', 'callProviderMetadata', 'resultProviderMetadata', 'providerOptions']

/** The message without the marks that say which model made its parts: only the service's own copy says so. */
export function unmarked (message: ThreadMessage): ThreadMessage {
  const field = message.parts === undefined ? 'content' : 'parts'
  const parts = message[field]
  if (message.role === 'user' || !Array.isArray(parts)) return message
  const isMarked = (part: any, name: string) => part?.[name]?.agent?.model !== undefined
  if (!parts.some((part) => ATTACHED.some((name) => isMarked(part, name)))) return message
  return {
    ...message,
    [field]: parts.map((part) => {
      const names = ATTACHED.filter((name) => isMarked(part, name))
      return names.length === 0 ? part : { ...part, ...Object.fromEntries(names.map((name) => [name, withoutModel(part[name])])) }
    })
  }
}

function withoutModel ({ agent: { model, ...agent }, ...attached }: Record<string, any>): object {
  return { ...attached, ...(Object.keys(agent).length > 0 && { agent }) }
}
