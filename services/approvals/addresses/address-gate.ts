import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { RunEvent } from '../../contracts/run-events.ts'
import type { NamedCall, Tool } from '../../contracts/tool.ts'
import { composedKey, type Op, provenanceKey, unlessDamaged, type Store } from '../../store/index.ts'
import { sayTool } from '../../tools/index.ts'
import { createCommandFiles } from '../../workspace/index.ts'
import { readAddress, type Address } from '../../lib/find-addresses.ts'
import { createProvenance, type Origin, type Provenance, type StoredProvenance } from './provenance.ts'

/** Why a call needs an approval although its tool needs none: the call would send data to an address that the model composed. */
interface AddressQuestion {
  reason: string
  /** The ids of the calls that brought in private data and text of others. */
  because: string[]
}

/** The most fetches from one host in a run that need no approval, if the run has only read the addresses and the user did not give them. */
const MOST_FETCHES = 20
const ADDRESS_SHOWN = 300

export type AddressGate = ReturnType<typeof createAddressGate>

interface GateParts {
  store: Store
  /** The digest of the thread, or the id of the task. */
  place: string
  prompt: LanguageModelV4Prompt
  /** The words of a person, and whether the user messages of the prompt are also words of that person. */
  said: Said
  /** What the model knows in addition to the prompt. */
  besides: () => { hasMemory?: boolean, guide?: string, skills?: string, given?: string, hasOlder?: boolean }
  /** Returns the beginnings of the texts of attached files. */
  attached?: () => Promise<string[]>
  events: () => readonly RunEvent[]
  find: (name: string) => Tool | undefined
  /** Whether calls of the tool can need an approval because of their addresses. False if the user has allowed the tool explicitly. */
  isAsked: (toolName: string) => boolean
  /** Milliseconds since the Unix epoch. */
  now: () => number
}

/** The words of a person with which a run begins. `isUsers`: the user messages of the run's prompt are also words of that person. */
export interface Said {
  isUsers: boolean
  texts: readonly string[]
}

/**
 * Decides whether a call that sends data to an address needs an approval. It does if the model composed the address and the conversation
 * contains both private data and texts of others. What the gate learns from earlier calls is stored before a call runs that could depend on
 * it.
 */
export function createAddressGate ({ store, place, prompt, said, besides, attached, events, find, isAsked, now }: GateParts) {
  async function open (): Promise<Provenance> {
    const stored = await unlessDamaged(store.get<StoredProvenance>(provenanceKey(place)))
    const known = createProvenance({ find, now: now() }, stored)
    said.texts.forEach(known.userSaid)
    known.prompted(prompt, said)
    const { hasMemory = false, guide, skills, given, hasOlder = false } = besides()
    if (hasMemory || hasOlder) known.hold('private', { toolName: hasMemory ? 'memory' : 'earlier messages' })
    if (hasOlder) known.hold('foreign', { toolName: 'earlier messages' }, true)
    if (guide !== undefined) known.given(guide, 'guide of the folder', ['foreign'])
    if (skills !== undefined) known.given(skills, 'skills', ['foreign'])
    if (given !== undefined) known.given(given, 'input of the run', ['private', 'foreign'])
    for (const text of await attached?.() ?? []) known.given(text, 'attachment', [])
    return known
  }

  const follow = createFollower(store, events, open)

  /**
   * Adds the newest events to the provenance (where addresses came from, and what brought in private data and text of others), stores it if
   * it has changed, and returns it.
   */
  async function current (): Promise<Provenance> {
    const known = await follow()
    const fresh = known.take()
    if (fresh === undefined) return known
    const composed = fresh.composed.map((key): Op => ({ type: 'put', key: composedKey(store.digest(key)), value: { at: now() } }))
    await store.transact([{ type: 'put', key: provenanceKey(place), value: fresh.record }, ...composed])
    return known
  }

  return {
    ...decisions({ store, current, events, find, isAsked }),

    /** Stores the provenance so far. Must be called before a step runs calls that could depend on it. */
    note: async (): Promise<void> => void await current(),

    /** Returns these decisions for an agent inside the run. That agent begins with a copy of the run's provenance. */
    async inner (innerEvents: () => readonly RunEvent[]): Promise<ReturnType<typeof decisions>> {
      const known = createProvenance({ find, now: now() }, (await current()).snapshot())
      return decisions({ store, current: createFollower(store, innerEvents, async () => known), events: innerEvents, find, isAsked })
    }
  }
}

/** Returns a function that opens the provenance at the first call, adds the events since the call before, and returns the provenance. */
function createFollower (store: Store, events: () => readonly RunEvent[], open: () => Promise<Provenance>): () => Promise<Provenance> {
  let opened: Promise<Provenance> | undefined
  /** The number of events that were added. */
  let upTo = 0
  return async () => {
    const known = await (opened ??= open())
    const fresh = events().slice(upTo)
    upTo += fresh.length
    await lookAtFiles(store, fresh, known)
    known.happened(fresh)
    return known
  }
}

/**
 * Finds out who wrote the files that calls have read. If a command of the service wrote a file, the addresses in the file do not count as
 * read: the model might have composed them.
 */
async function lookAtFiles (store: Store, events: readonly RunEvent[], known: Provenance): Promise<void> {
  const files = createCommandFiles(store)
  for (const event of events) {
    if (event.type !== 'tool-output') continue
    for (const path of known.filesShown(event)) {
      const writer = await files.writerOf(path, known.since)
      if (writer !== undefined) known.lookedAt(path, writer)
    }
  }
}

/** Returns the decisions about calls. Each uses the provenance as it is when the decision is made. */
function decisions ({ store, current, events, find, isAsked }: Pick<GateParts, 'store' | 'events' | 'find' | 'isAsked'> & {
  current: () => Promise<Provenance>
}) {
  const addressesOf = ({ toolName, input }: NamedCall): Address[] =>
    find(toolName)?.effects?.addresses?.(input)?.flatMap((text) => readAddress(text) ?? []) ?? []

  /** Returns how many calls of this run have an address at the host. */
  const calls = (host: string) =>
    events().filter((event) => event.type === 'tool-input' && addressesOf(event).some((address) => address.host === host)).length

  async function isComposed (address: Address, known: Provenance): Promise<boolean> {
    const source = known.addresses.get(address.key)
    if (source === 'user') return false
    if (source !== 'read' || (calls(address.host) > MOST_FETCHES && known.addresses.get(address.host) !== 'user')) return true
    // What was read might have been written by a model in another conversation.
    return !known.wasFetched(address.key) && await store.get(composedKey(store.digest(address.key))) !== undefined
  }
  /** Names origins for a person. An origin that is not a tool, such as an attachment, has its own name. */
  const named = (origins: readonly Origin[]) =>
    [...new Set(origins.map(({ toolName }) => find(toolName) === undefined ? toolName : sayTool(toolName, find(toolName))))].join(', ')
  const isTainted = ({ origins }: Provenance) => origins.private.length > 0 && origins.foreign.length > 0

  return {
    /** Returns the name, for a person, of the first origin of a text of others; undefined if there is none. */
    async textOfOthers (): Promise<string | undefined> {
      const { read } = await current()
      return read && named([read])
    },

    /** Returns why the call needs an approval because of its addresses; undefined if it needs none. */
    async question (call: NamedCall): Promise<AddressQuestion | undefined> {
      const addresses = addressesOf(call)
      if (addresses.length === 0 || !isAsked(call.toolName)) return undefined
      const known = await current()
      const composed: Address[] = []
      if (isTainted(known)) { for (const address of addresses) if (await isComposed(address, known)) composed.push(address) }
      if (composed.length === 0) return undefined
      const { private: secret, foreign } = known.origins
      const because = [...secret, ...foreign].flatMap(({ toolCallId }) => toolCallId ?? [])
      return { reason: reasonOf(composed, named(secret), named(foreign)), because: [...new Set(because)] }
    },

    /**
     * Whether a request is allowed to follow a redirect. False if the model composed the first address and might have put data into it, and
     * the redirect goes to an address at another host that is composed, too, and has no grant.
     */
    async mayRedirect (
      toolName: string,
      { from, to }: { from: string, to: string },
      isGranted: (host: string) => Promise<boolean> = async () => false
    ): Promise<boolean> {
      const [first, next] = [readAddress(from), readAddress(to)]
      if (first === undefined || next === undefined || first.host === next.host || !isAsked(toolName)) return true
      const known = await current()
      return !isTainted(known) || !await isComposed(first, known) || !await isComposed(next, known) || isGranted(next.host)
    }
  }
}

function reasonOf (addresses: readonly Address[], secret: string, foreign: string): string {
  const shown = addresses.map(({ key }) => JSON.stringify(key.slice(0, ADDRESS_SHOWN))).join(', ')
  return `The agent put this address together: ${shown}. It has seen private data (${secret}) and read what others wrote ` +
    `(${foreign}), and whoever answers at the address reads all of it.`
}
