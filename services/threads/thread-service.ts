import { NOBODY_ANSWERED, USER_MOVED_ON } from '../contracts/model-texts.ts'
import type { Protocol } from '../../schemas/agent.ts'
import type { StreamEvent } from '../../schemas/events.ts'
import type { RunOptions } from '../../schemas/run-options.ts'
import type { Thread, ThreadBody, ThreadSettings, ThreadView } from '../../schemas/threads.ts'
import type { Approval } from '../contracts/approval-record.ts'
import type { Clock } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import { workingFolder } from '../lib/working-folder.ts'
import {
  isDamage,
  METADATA,
  metadataKey,
  type Op,
  parseIndexKey,
  RECENT,
  type Store,
  threadKey,
  unlessDamaged
} from '../store/index.ts'
import { totalOf, type UsageRepository } from '../usage/index.ts'
import { ThreadExists, ThreadNotFound, VersionNotFound } from './thread-errors.ts'
import { renderMessages } from './rendering/render.ts'
import { requestsIn, type Unanswered, type UnansweredEnd } from './rendering/unanswered.ts'
import { createThreadMetadata, type Metadata } from './thread-metadata.ts'
import { type ThreadHead } from './thread-head.ts'
import { createThreadRemovals } from './thread-removals.ts'
import { writtenForm } from './stored-answer.ts'
import { checkMessages, type ThreadMessage } from './thread-message.ts'
import type { ThreadRepository } from './thread-repository.ts'
import type { VersionInfo, VersionView } from '../../schemas/versions.ts'
import type { Version } from './replaced-turns.ts'
import { type Attachments, attachmentsIn, takeFiles } from '../attachments/index.ts'

export type ThreadService = ReturnType<typeof createThreadService>

/** The most characters of JSON of one client field that lists show, and of all such fields of one thread. */
const LONGEST_FIELD = 4_096
const LONGEST_FIELDS = 16_384

/** Returns the fields that a client has stored with a thread, without fields that are too long. */
function shortFields (fields: Record<string, unknown> = {}): Record<string, unknown> {
  let total = 0
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => {
    const { length } = JSON.stringify(value)
    if (length > LONGEST_FIELD || total + length > LONGEST_FIELDS) return false
    total += length
    return true
  }))
}

/** The reasons why a call of the application was not executed if its result cannot be given any more. */
const APP_WITHDRAWN = 'The run ended before the application gave a result.'
const APP_EXPIRED = 'The application gave no result in time.'

/** The most threads that one page of a search examines. */
const MOST_SEARCHED = 2_000

/** The most threads whose working folders count as recent. */
const MOST_RECENT = 200

/** The operations on threads that clients use. */
export function createThreadService (
  { store, clock, emit, threads, ledger, undo, usage, attachments, endCommands, agents, workspace, agent }: {
    store: Store
    clock: Clock
    /** Reports a change that is on disk. */
    emit: (event: StreamEvent) => void
    threads: ThreadRepository
    ledger: {
      all(approvalIds: readonly string[]): Promise<Approval[]>,
      isOpen(approval: Approval): boolean
    }
    undo: {
      /** Returns the operations that remove the undo records of a thread, given its digest. `sweepSoon` then removes the files. */
      removal(thread: string): Promise<Op[]>,
      sweepSoon(): void
    }
    usage: Pick<UsageRepository, 'of' | 'forget'>
    attachments: Attachments
    /** Ends the commands of a conversation and erases the commands' home folder and /tmp. */
    endCommands: (owner: { threadId: string }) => Promise<void>
    /** Checks the options of runs, including their agent, and stores which agent a thread uses. */
    agents: {
      check(options: RunOptions): Promise<unknown>,
      using<T>(name: string | undefined, work: () => Promise<T>): Promise<T>
    }
    /** Returns the folder against which relative working folders are resolved. */
    workspace: () => string
    /** Locks conversations against runs; see `createConversationGuard`. */
    agent: {
      isLive(id: string): boolean,
      exclusive<T>(id: string, work: () => Promise<T>): Promise<T>,
      removeWith<T>(id: string, work: (ops: Op[]) => Promise<T>): Promise<T>
    }
  }
) {
  const metadata = createThreadMetadata(store)

  /** Checks settings and returns them in their stored form. Throws what `agents.check` throws, and BadFolder (400). */
  async function checked ({ agent: name, options, cwd, ...rest }: ThreadSettings): Promise<ThreadSettings> {
    await agents.check({ ...options, ...(name !== undefined && { agent: name }) })
    return {
      ...rest,
      ...(name !== undefined && { agent: name }),
      ...(options && { options }),
      ...(cwd !== undefined && { cwd: await workingFolder(cwd, workspace()) })
    }
  }

  async function statusOf ({ id, asked = [] }: ThreadHead): Promise<Thread['status']> {
    if (agent.isLive(id)) return 'running'
    return (await ledger.all(asked)).some(ledger.isOpen) ? 'pending_approval' : 'idle'
  }

  /** Returns the approval requests, questions and calls in messages that were not answered and cannot be answered any more. */
  async function unansweredIn (messages: readonly ThreadMessage[]): Promise<Unanswered> {
    const ends = (await ledger.all(requestsIn(messages))).flatMap((item): Array<[string, UnansweredEnd]> => {
      const { approvalId, kind, state } = item
      if (state === 'withdrawn') return [[approvalId, { state, reason: kind === 'app' ? APP_WITHDRAWN : USER_MOVED_ON }]]
      if (state !== 'expired' && (state !== 'pending' || ledger.isOpen(item))) return []
      return [[approvalId, { state: 'expired', reason: kind === 'app' ? APP_EXPIRED : NOBODY_ANSWERED }]]
    })
    return new Map(ends)
  }

  /**
   * Returns messages in the form in which they were written or, with `protocol`, rendered for that protocol. `from` is the position of the
   * first message.
   */
  async function shownMessages (messages: ThreadMessage[], protocol: Protocol | undefined, from: number): Promise<ThreadMessage[]> {
    if (protocol === undefined) return messages.flatMap(writtenForm)
    return renderMessages(messages, protocol, { idAt: threads.messageId, unanswered: await unansweredIn(messages) }, from)
  }

  async function view (head: ThreadHead): Promise<Thread> {
    const { id, createdAt, updatedAt, messageCount: records, more = 0, lastMessage, words } = head
    const { title, fields, settings } = await metadata.get(id)
    const status = await statusOf(head)
    return {
      ...shortFields(fields),
      ...settings?.cwd !== undefined && { settings: { cwd: settings.cwd } },
      id,
      title: title ?? words,
      createdAt,
      updatedAt,
      status,
      messageCount: records + more,
      lastMessage
    }
  }

  /** Lists the threads that clients have pinned, the most recently changed first. */
  async function listPinned (limit: number): Promise<Thread[]> {
    const heads: ThreadHead[] = []
    for await (const [key, { fields }] of store.list<Metadata>(METADATA, { damaged () {} })) {
      if (fields?.pinned !== true) continue
      const head = await unlessDamaged(store.get<ThreadHead>(threadKey(key.slice(METADATA.length))))
      if (head !== undefined) heads.push(head)
    }
    heads.sort((one, other) => other.updatedAt - one.updatedAt)
    return Promise.all(heads.slice(0, limit).map(view))
  }

  const withSettings = async (head: ThreadHead): Promise<Thread> => {
    const { settings } = await metadata.get(head.id)
    return { ...await view(head), ...(settings && { settings }) }
  }

  async function holds ({ id, words, lastMessage }: ThreadHead, search: string): Promise<boolean> {
    const { title = words } = await metadata.get(id)
    return `${title}\n${lastMessage}`.toLocaleLowerCase().includes(search.toLocaleLowerCase())
  }

  const removals = createThreadRemovals({ store, clock, emit, threads, undo, usage, attachments, endCommands, agent, metadata, view })

  /** Returns the head of a thread. Throws ThreadNotFound (404). */
  async function require (id: string): Promise<ThreadHead> {
    const head = await threads.get(id)
    if (head === undefined) throw new ThreadNotFound(id)
    return head
  }

  /** Returns a version of a message of a thread, and the head of the thread. Throws ThreadNotFound and VersionNotFound (404). */
  async function requireVersion (id: string, versionId: string): Promise<{ head: ThreadHead, version: Version }> {
    const head = await require(id)
    const version = (await threads.versions(head)).find((each) => each.id === versionId)
    if (version === undefined) throw new VersionNotFound(versionId)
    return { head, version }
  }

  async function versionInfo (threadId: string, { id, at, replacedAt, text, messageCount }: Version): Promise<VersionInfo> {
    const [message] = await threads.messages(threadId, { from: at, limit: 1 })
    return { id, messageId: await threads.shownId(threadId, at, message), replacedAt, text, messageCount }
  }

  /**
   * Stores the files of messages as attachments, then calls `work` with the messages, which refer to these attachments. Throws BadMessage
   * and what `takeFiles` throws (400), ThreadFull (413).
   */
  async function withFiles<T> (id: string, messages: ThreadMessage[], work: (messages: ThreadMessage[]) => Promise<T>): Promise<T> {
    checkMessages(messages)
    const taken = await takeFiles(messages, { attachments, digest: store.digest }, {
      thread: id,
      nameOf: (n) => `messages[${n}]`,
      isNew: () => true
    })
    try {
      await attachments.checkRoom(store.digest(id), taken.messages.flatMap(attachmentsIn))
      return await work(taken.messages)
    } finally {
      taken.release()
    }
  }

  return {
    /**
     * Lists threads, the most recently changed first, one page at a time. `search` selects threads whose title or last message contains it.
     */
    async list (
      { limit, cursor, search, deleted, pinned }: { limit: number, cursor?: string, search?: string, deleted?: boolean, pinned?: boolean }
    ): Promise<{ threads: Thread[], nextCursor?: string }> {
      if (deleted) return { threads: await removals.list(limit) }
      if (pinned) return { threads: await listPinned(limit) }
      const page: ThreadHead[] = []
      let looked = 0
      let last = ''
      for await (const [key] of store.list(RECENT, { reverse: true, after: cursor && RECENT + cursor, damaged () {} })) {
        if (page.length === limit || looked === MOST_SEARCHED) return { threads: await Promise.all(page.map(view)), nextCursor: last }
        const head = await unlessDamaged(store.get<ThreadHead>(threadKey(parseIndexKey(key).thread)))
        if (head !== undefined && (search === undefined || await holds(head, search))) page.push(head)
        if (search !== undefined) looked++
        last = key.slice(RECENT.length)
      }
      return { threads: await Promise.all(page.map(view)) }
    },

    /**
     * Returns a thread with the newest messages before `cursor`, at most `limit` and at most PAGE_BYTES. Without `protocol`, messages have
     * the form in which they were written. With `protocol`, they are rendered for it, and no answer is cut. An answer that continues after
     * an approval is shown as far as it exists. Throws ThreadNotFound (404).
     */
    async get (
      id: string,
      { limit = Infinity, cursor = '', protocol }: { limit?: number, cursor?: string, protocol?: Protocol } = {}
    ): Promise<ThreadView> {
      const head = await require(id)
      const end = cursor === '' ? head.messageCount : Math.min(Number(cursor), head.messageCount)
      const [{ fields }, summary, used, { messages, from }] = await Promise.all([
        metadata.get(id),
        withSettings(head),
        usage.of({ kind: 'thread', id }),
        protocol === undefined ? threads.lastMessages(id, { end, limit }) : threads.lastAnswers(id, { end, limit })
      ])
      const shown = await shownMessages(messages, protocol, from)
      return { ...fields, ...summary, messages: shown, usage: totalOf(used), ...(from > 0 && { nextCursor: String(from) }) }
    },

    /** Creates a thread. Throws what `withFiles` and `checked` throw, and ThreadExists (409). */
    async create ({ id = newId(), messages = [], settings: given, ...rest }: ThreadBody & { id?: string }): Promise<Thread> {
      const settings = given && await checked(given)
      return withFiles(id, messages, (taken) =>
        agents.using(settings?.agent, () => agent.exclusive(id, async () => {
          if (await threads.get(id) !== undefined) throw new ThreadExists(id)
          await store.transact([...await threads.replace(id, taken), metadata.put(id, metadata.changed({}, { ...rest, settings }))])
          return withSettings(await require(id))
        })))
    },

    /**
     * Creates a thread, or replaces the fields that the body contains. Without `messages`, or with the messages that the thread has,
     * messages and waiting approvals stay as they are. With `restore`, a deleted thread is restored first, which throws NotRestorable
     * (404). Throws what `withFiles` and `checked` throw, and ConversationBusy (409) if the body has other messages while a run is active.
     */
    async put (id: string, { messages, settings: given, restore: isRestore, ...rest }: ThreadBody): Promise<Thread> {
      if (isRestore) await removals.restore(id)
      const settings = given && await checked(given)
      return withFiles(id, messages ?? [], async (taken) => {
        const put = (ops: Op[]) => metadata.update(id, (current) => metadata.changed(current, { ...rest, settings }), ops)
        const isThere = async () => messages === undefined && await threads.get(id) !== undefined
        const isKept = await isThere() || await threads.holds(id, taken, unansweredIn)
        await agents.using(settings?.agent, async () =>
          isKept
            ? put([])
            // Another request might have created the thread meanwhile.
            : agent.exclusive(id, async () => put(await isThere() ? [] : await threads.replace(id, taken, unansweredIn))))
        return withSettings(await require(id))
      })
    },

    /** Returns whether the newest run of a conversation executes or waits. */
    async isBusy (id: string): Promise<boolean> {
      const head = await threads.get(id)
      return head === undefined ? agent.isLive(id) : await statusOf(head) !== 'idle'
    },

    /** Returns the earlier versions of the messages of a thread, the oldest first. Throws ThreadNotFound (404). */
    async versions (id: string): Promise<{ versions: VersionInfo[] }> {
      const found = await threads.versions(await require(id))
      return { versions: await Promise.all(found.map((version) => versionInfo(id, version))) }
    },

    /** Returns a version with its messages, rendered for a protocol. Throws ThreadNotFound and VersionNotFound (404). */
    async version (id: string, versionId: string, { protocol }: { protocol?: Protocol } = {}): Promise<VersionView> {
      const { version } = await requireVersion(id, versionId)
      const messages = await threads.versionMessages(id, version)
      // If the thread has gone back to the version meanwhile, other messages can have its numbers.
      await requireVersion(id, versionId)
      return { ...await versionInfo(id, version), messages: await shownMessages(messages, protocol, version.at) }
    },

    /**
     * Lets a thread go back to a version. The turns that the version replaces become a version. Throws ThreadNotFound and VersionNotFound
     * (404), and ConversationBusy (409) while a run is active.
     */
    async restoreVersion (id: string, versionId: string): Promise<Thread> {
      await agent.exclusive(id, async () => {
        const { head, version } = await requireVersion(id, versionId)
        await store.transact(await threads.goBack(head, version))
      })
      emit({ type: 'thread:changed', threadId: id, at: clock.now() })
      return withSettings(await require(id))
    },

    remove: removals.remove,
    clear: removals.clear,
    prune: removals.prune,
    sweep: removals.sweep,

    /** Returns the working folders that are set for recent threads, with the times of their last changes, the most recent first. */
    async recentFolders (): Promise<Array<{ cwd: string, at: number }>> {
      const found: Array<{ cwd: string, at: number }> = []
      let seen = 0
      for await (const [key] of store.list(RECENT, { reverse: true, damaged () {} })) {
        if (++seen > MOST_RECENT) break
        const { time, thread } = parseIndexKey(key)
        const cwd = (await unlessDamaged(store.get<Metadata>(metadataKey(thread))))?.settings?.cwd
        if (cwd !== undefined) found.push({ cwd, at: time })
      }
      return found
    },

    /** Sets the title of a thread, unless the user has set one or the thread was removed. */
    async suggestTitle (id: string, title: string): Promise<void> {
      // A title must not overwrite a record with damaged settings.
      if (await threads.get(id) === undefined || await threads.settings(id).then(() => false, isDamage)) return
      await metadata.update(id, (current) => current.by === 'user' ? current : { ...current, title, by: 'model' })
    },

    /** Returns the threads that use the agent, in the form that the error of `Agents.remove` needs. */
    async usersOf (name: string): Promise<Array<{ path: string, kind: 'conversation', name: string }>> {
      const users = []
      for await (const [key, { settings, title }] of store.list<Metadata>(METADATA, { damaged () {} })) {
        if (settings?.agent !== name) continue
        const head = await unlessDamaged(store.get<ThreadHead>(threadKey(key.slice(METADATA.length))))
        if (head === undefined) continue
        const { id, words } = head
        users.push({ path: `/threads/${encodeURIComponent(id)}`, kind: 'conversation' as const, name: title ?? (words || id) })
      }
      return users
    },

    /** Whether the thread has no title yet, neither from the user nor from a model. */
    isUntitled: async (id: string): Promise<boolean> => (await metadata.get(id)).title === undefined
  }
}
