import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { PROMPT_OPENING } from '../../contracts/model-texts.ts'
import type { EventOf, RunEvent } from '../../contracts/run-events.ts'
import { type FileChange, isSourceTool, type ResultSource, type Tool } from '../../contracts/tool.ts'
import { addressesIn, addressesInValue, addressesOfInput, readAddress, shorterForms, type Address } from '../../lib/find-addresses.ts'
import { type Op, provenanceKey, type Store, unlessDamaged } from '../../store/index.ts'

/** Where an address came from: the user's own words, a text that was read, or an input that the model wrote. */
type Source = 'user' | 'read' | 'composed'

/** A call, or another source such as an attachment, that added private data or texts of others to the conversation. */
export interface Origin {
  toolName: string
  toolCallId?: string
}

/** The stored provenance of a conversation or a task. Addresses are stored as the keys by which they are compared. */
export interface StoredProvenance {
  addresses: Array<[key: string, source: Source]>
  private?: Origin[]
  foreign?: Origin[]
  /** The first origin of a text of others. Lists of the user's own tasks do not count. */
  read?: Origin
  /** When the conversation was first examined, milliseconds since the Unix epoch. */
  since: number
  /** Files that calls of the conversation wrote. `hasRun`: a command ran, which can have written any file. */
  written?: string[]
  hasRun?: true
}

/** The most addresses of one conversation; the newest are kept. */
const MOST_ADDRESSES = 4_000
const MOST_ORIGINS = 3
const MOST_WRITTEN = 500

/**
 * What results of each source contain. `reads`: an address in the result counts as read, otherwise as composed. `own`: the result contains
 * mostly the user's own words.
 */
const HOLDS: Record<ResultSource, { private?: true, foreign?: true, reads?: true, own?: true }> = {
  attachment: { private: true, foreign: true, reads: true },
  page: { foreign: true, reads: true },
  search: { foreign: true, reads: true },
  file: { private: true, foreign: true, reads: true },
  files: { private: true, foreign: true, reads: true },
  command: { private: true, foreign: true },
  memory: { private: true },
  tasks: { private: true, foreign: true, own: true },
  server: { private: true, foreign: true, reads: true },
  app: { private: true, foreign: true, reads: true },
  screen: { private: true, foreign: true },
  report: { private: true, foreign: true },
  user: {},
  none: {}
}

export type Provenance = ReturnType<typeof createProvenance>

/**
 * Records where each address in a conversation came from. The first source counts: an address that the model wrote in an input and later
 * read counts as composed. Only the user's own words replace an earlier source. `find` finds the tools of the run.
 */
export function createProvenance (
  { find, now }: { find: (name: string) => Tool | undefined, now: number },
  stored?: StoredProvenance
) {
  let since = stored?.since ?? now
  const written = new Set(stored?.written)
  let hasRun = stored?.hasRun === true
  /** Of the files that were read: those that a command of the service wrote, and those that git contained before the conversation began. */
  const ofCommands = new Set<string>()
  const ofGit = new Set<string>()
  /** Addresses that were fetched in this run. */
  const fetchedKeys = new Set<string>()
  const addresses = new Map<string, Source>(stored?.addresses)
  const origins = { private: stored?.private ?? [], foreign: stored?.foreign ?? [] }
  let read = stored?.read
  let isChanged = false
  /** Addresses that the model composed since the last call of `take`. */
  let composed: string[] = []

  function know (key: string, source: Source) {
    const before = addresses.get(key)
    if (before === source || before === 'user' || (before !== undefined && source !== 'user')) return
    addresses.set(key, source)
    if (source === 'composed') composed.push(key)
    isChanged = true
  }
  const knowAll = (found: Iterable<Address>, source: Source) => {
    for (const address of found) {
      know(address.key, source)
      if (source !== 'composed') for (const shorter of shorterForms(address)) know(shorter, source)
    }
  }
  /** Records an origin of private data or of texts of others. `isOwn`: the text is mostly the user's own words. */
  function hold (what: 'private' | 'foreign', origin: Origin, isOwn = false) {
    if (what === 'foreign' && read === undefined && !isOwn) {
      read = origin
      isChanged = true
    }
    if (origins[what].length >= MOST_ORIGINS || origins[what].some(({ toolCallId, toolName }) =>
      toolCallId === origin.toolCallId && toolName === origin.toolName)) return
    origins[what] = [...origins[what], origin]
    isChanged = true
  }

  function wrote (changes: readonly FileChange[]) {
    for (const { path } of changes.slice(0, MOST_WRITTEN - written.size)) written.add(path)
    isChanged = true
  }

  /** Records a fetched page: its address is known, and fetching it again tells the server nothing new. */
  function fetched (output: unknown) {
    const { url } = (output ?? {}) as { url?: unknown }
    const address = typeof url === 'string' ? readAddress(url) : undefined
    if (address === undefined || addresses.get(address.key) === 'user') return
    addresses.set(address.key, 'read')
    fetchedKeys.add(address.key)
    isChanged = true
  }

  /**
   * Records the addresses in an input that the model wrote. If the input is a question to a person, its options count, too, even if their
   * addresses have no scheme.
   */
  const wroteInput = (toolName: string, input: unknown) =>
    knowAll(sourceOf(toolName) === 'user' ? addressesInValue(input, { asSaid: true }) : addressesOfInput(input), 'composed')

  /** Records an answer of a person: their own words, except for options that the model has offered. */
  const answered = (output: unknown) =>
    knowAll(addressesInValue(output, { asSaid: true }).filter(({ key }) => addresses.get(key) !== 'composed'), 'user')

  function sourceOf (toolName: string): ResultSource {
    const tool = find(toolName)
    if (tool?.execute.by === 'app') return 'app'
    // A tool that does not exist any more was a tool of a tool server.
    return tool === undefined || isSourceTool(tool) ? 'server' : tool.effects?.source ?? 'none'
  }

  /** Whether a file might contain what the conversation itself wrote. */
  const mayBeOwn = (path: string) =>
    ofCommands.has(path) || (!ofGit.has(path) && (written.has(path) || (hasRun && changedAt(path) >= since)))

  const provenance = {
    addresses: addresses as ReadonlyMap<string, Source>,
    origins: origins as { readonly private: readonly Origin[], readonly foreign: readonly Origin[] },
    hold,
    userSaid: (text: string) => knowAll(addressesIn(text, { asSaid: true }), 'user'),
    wasFetched: (key: string): boolean => fetchedKeys.has(key),

    /**
     * Adds a text that is not the result of a call: instructions in folders, an attached file, or the data with which the run of a task was
     * started. `holds` says whether the text contains private data or texts of others; `toolName` names the text for a person.
     */
    given (text: string, toolName: string, holds: ReadonlyArray<'private' | 'foreign'>): void {
      for (const what of holds) hold(what, { toolName })
      knowAll(addressesIn(text), 'read')
    },

    /** Adds the result of a call. */
    resulted ({ toolName, toolCallId }: Origin, output: unknown): void {
      const source = isPageOfCommand(output) ? 'command' : sourceOf(toolName)
      const holds = HOLDS[source]
      if (source === 'user') return answered(output)
      const [path] = source === 'file' ? filesOf(output, source) : []
      const isOwn = path !== undefined
        ? mayBeOwn(path)
        : (source === 'file' || source === 'files') &&
          (hasRun || written.size > 0 || filesOf(output, source).some((file) => ofCommands.has(file)))
      if (holds.private) hold('private', { toolName, toolCallId })
      // A list of files counts as text of others even if the conversation wrote some of them.
      if (holds.foreign && !(isOwn && path !== undefined)) hold('foreign', { toolName, toolCallId }, holds.own)
      if (source === 'command') hasRun = true
      if (sourceOf(toolName) === 'page') fetched(output)
      knowAll(addressesInValue(output), holds.reads && !isOwn ? 'read' : 'composed')
    },

    get since () {
      return since
    },
    /** Returns the files whose content the result of a call shows. */
    filesShown: ({ toolName, output }: EventOf<'tool-output'>): string[] => filesOf(output, sourceOf(toolName)),
    /** The first origin of a text of others. */
    get read () {
      return read
    },
    /** Records who wrote a file that was read: a command of the service, or the author of a git commit from before the conversation. */
    lookedAt (path: string, whose: 'command' | 'git'): void {
      (whose === 'command' ? ofCommands : ofGit).add(path)
    },

    /** Adds the messages that a model gets. `isUsers`: the user messages contain only words of a person. */
    prompted (prompt: LanguageModelV4Prompt, { isUsers }: { isUsers: boolean }): void {
      for (const { role, content } of prompt) {
        if (typeof content === 'string') {
          // The application's instructions.
          provenance.userSaid(content)
          continue
        }
        for (const part of content) {
          if (isUsers && role === 'user' && part.type === 'text') {
            if (part.text.startsWith(PROMPT_OPENING)) provenance.given(part.text, 'prompt of a tool server', ['foreign'])
            else provenance.userSaid(part.text)
          }
          if (role === 'user' && part.type === 'file') {
            hold('private', { toolName: 'attachment' })
            hold('foreign', { toolName: 'attachment' })
          }
          if (role === 'assistant' && part.type === 'tool-call') wroteInput(part.toolName, part.input)
          if (role === 'tool' && part.type === 'tool-result') provenance.resulted(part, part.output)
        }
      }
    },

    /** Adds the events of a run. */
    happened (events: Iterable<RunEvent>): void {
      for (const event of events) {
        if (event.type === 'tool-input') wroteInput(event.toolName, event.input)
        if ((event.type === 'tool-output' || event.type === 'tool-error') && event.changes) wrote(event.changes)
        if (event.type === 'tool-output') provenance.resulted(event, event.output)
        if (event.type === 'steer' || (event.type === 'message' && !event.isRetry && !event.isReview)) provenance.userSaid(event.text)
      }
    },

    /**
     * Adds the provenance of another conversation or task. The ids of calls are left out, because they mean nothing here; only the names of
     * the tools are copied.
     */
    inherit (other: StoredProvenance): void {
      for (const [key, source] of other.addresses) know(key, source)
      for (const { toolName } of other.private ?? []) hold('private', { toolName })
      for (const { toolName } of other.foreign ?? []) hold('foreign', { toolName }, true)
      if (other.read !== undefined) read ??= { toolName: other.read.toolName }
      for (const path of other.written ?? []) written.add(path)
      hasRun ||= other.hasRun === true
      since = Math.min(since, other.since)
    },

    /**
     * Returns the record to store, and the addresses that the model composed since the last call of `take`; none as long as the
     * conversation contains no private data. Returns undefined if nothing is new.
     */
    take (): { record: StoredProvenance, composed: string[] } | undefined {
      if (!isChanged) return undefined
      isChanged = false
      const taken = origins.private.length > 0 ? composed : []
      composed = []
      return { record: provenance.snapshot(), composed: taken }
    },

    snapshot (): StoredProvenance {
      return {
        addresses: [...addresses].slice(-MOST_ADDRESSES),
        private: [...origins.private],
        foreign: [...origins.foreign],
        ...(read && { read }),
        since,
        ...(written.size > 0 && { written: [...written] }),
        ...(hasRun && { hasRun })
      }
    }
  }
  return provenance
}

/** Whether a result of fetchUrl, either the original or its form for models, is a page that a command of the service served. */
function isPageOfCommand (output: unknown): boolean {
  const { isOfCommand, value } = (output ?? {}) as { isOfCommand?: unknown, value?: { isOfCommand?: unknown } }
  return (isOfCommand ?? value?.isOfCommand) === true
}

/** The most files of one result that are examined. */
const MOST_FILES = 50

/** Returns the files whose content a result from `file` or `files` shows. */
function filesOf (output: unknown, source: ResultSource): string[] {
  const { path, matches } = (output ?? {}) as { path?: unknown, matches?: unknown }
  if (typeof path !== 'string' || (source !== 'file' && source !== 'files')) return []
  if (source === 'file') return [path]
  if (!Array.isArray(matches)) return []
  const found = matches.flatMap((match) => typeof match?.path === 'string' ? [join(path, match.path)] : [])
  return [...new Set(found)].slice(0, MOST_FILES)
}

/** Returns when a file was last changed, milliseconds since the Unix epoch; infinity if that is not known. */
function changedAt (path: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat === undefined ? Infinity : Math.max(stat.mtimeMs, stat.ctimeMs)
}

/** Returns the operations that add the provenance of a conversation to the provenance of a task. `from` is the digest of the thread. */
export async function inheritProvenance (store: Store, from: string, taskId: string): Promise<Op[]> {
  const [given, own] = await Promise.all(
    [from, taskId].map((place) => unlessDamaged(store.get<StoredProvenance>(provenanceKey(place))))
  )
  if (given === undefined) return []
  const known = createProvenance({ find: () => undefined, now: given.since }, own)
  known.inherit(given)
  return [{ type: 'put', key: provenanceKey(taskId), value: known.snapshot() }]
}
