import { recordKey } from './record-names.ts'

// The keys and key prefixes of all records: the list of what the store holds. A prefix ends with "/". A parameter `thread` is the store's
// keyed digest of a thread's id, because clients choose the ids, and `digest` is the store's keyed digest of the text that the comment
// names. The store itself has further records: `!meta` (the schema `{base, version}` and the source of the key), `!session`, `!probe` and
// `!migrating`, which are not encrypted, and `!digest`, which is encrypted.

/**
 * Returns the key of one entry of a list that belongs to `id`. Keys sort by `seq`, so entries are listed in the order they were written.
 */
export const historyKey = (prefix: string, id: string, seq: number): string => `${prefix}/${id}/${String(seq).padStart(10, '0')}`
/** Pads a time in milliseconds since the Unix epoch (or another number) with zeros to `digits` digits, so that keys sort by it. */
const padded = (time: number, digits: number) => String(time).padStart(digits, '0')

/** Key prefix of the decided approvals, by approval id. Kept for a year. A record holds a digest of the call's input, not the input. */
export const DECIDED = 'decided/'
export const decidedKey = (approvalId: string) => DECIDED + approvalId
/** Key prefix of the index of decided approvals by owner: the digest of the text that names the conversation or task (`ownerText`). */
export const DECIDED_OF = 'decided-of/'
export const decidedOfPrefix = (owner: string) => `${DECIDED_OF}${owner}/`
export const decidedOfKey = (owner: string, approvalId: string) => decidedOfPrefix(owner) + approvalId

/** Names of single records, for `Store.record`. Each item of the memory is a record of its own, `!record/brain/<list>/<id>`. */
export const RECORDS = {
  agents: 'agents',
  brain: 'brain',
  secrets: 'secrets',
  toolServers: 'tool-servers',
  toolServerAccess: 'tool-server-access',
  toolNames: 'tool-names',
  toolAcceptance: 'tool-acceptance',
  toolDefinitions: 'tool-definitions',
  learnedLimits: 'learned-limits',
  extraction: 'extraction',
  guides: 'guides',
  skills: 'skills',
  webhook: 'webhook',
  /** The paired devices, with digests of their keys; on this machine only. */
  devices: 'devices'
} as const
/** Key of the record that marks imported data until the tasks in it have been checked. */
export const IMPORTED = 'imported'
/** Key prefix of the first answers to requests with an `Idempotency-Key`, by the digest of route and key. Kept for 24 hours. */
export const IDEMPOTENCY = 'idempotency/'

/** Key prefix of the records of runs, of conversations and of tasks, by run id. */
export const RUNS = 'run/'
export const runKey = (runId: string) => RUNS + runId
/** The kind of owner of a run: a conversation or a task. Runs of conversations are kept for some days only. */
export type OwnerKind = 'thread' | 'task'
/** Key prefix of the events of all runs of one kind of owner. A record is a chunk: consecutive events of a run, numbered from 0. */
const runEventsOf = (kind: OwnerKind) => `run-event/${kind}/`
export const runEventsPrefix = (kind: OwnerKind, runId: string) => `${runEventsOf(kind)}${runId}/`
export const runEventsKey = (kind: OwnerKind, runId: string, chunk: number) => historyKey(`run-event/${kind}`, runId, chunk)
/**
 * Key prefix of the parts of model contexts: the tools, and all else that models got beside the messages (system prompt, guide, skills). An
 * id is the digest of the part, "-" and a new id, and equal parts of several runs are stored once. A part is removed with the last run that
 * uses it, for conversations a week after that run began.
 */
export const CONTEXTS = 'context/'
export const contextsPrefix = (digest: string) => `${CONTEXTS}${digest}-`
export const contextKey = (contextId: string) => CONTEXTS + contextId
/** Key prefix of the index of the runs that use a part of a context (see CONTEXTS), by the id of the part. */
export const CONTEXT_USES = 'context-use/'
export const contextUsesPrefix = (contextId: string) => `${CONTEXT_USES}${contextId}/`
export const contextUseKey = (contextId: string, runId: string) => contextUsesPrefix(contextId) + runId
/** Key prefix of the messages of requests, by run id, for the runs of conversations that wait, or have waited, for a person. */
export const RUN_INPUTS = 'run-input/'
export const runInputKey = (runId: string) => RUN_INPUTS + runId
/** Key of the data with which a run of a task began. Kept as long as the run. */
export const taskInputKey = (runId: string) => `task-input/${runId}`
/** Key prefix of the index of runs by conversation. Run ids sort by time, so the newest run is last. */
export const THREAD_RUNS = 'thread-run/'
export const threadRunsPrefix = (thread: string) => `${THREAD_RUNS}${thread}/`
export const threadRunKey = (thread: string, runId: string) => threadRunsPrefix(thread) + runId
/** Key prefix of the index of the runs of one task, by the number of the run in its task. */
export const taskRunsPrefix = (taskId: string) => `task-run/${taskId}/`
export const taskRunKey = (taskId: string, runNumber: number) => historyKey('task-run', taskId, runNumber)
/** Key prefix of the index of the rehearsals of one task, by run id, newest last. A rehearsal is a trial run without effects. */
export const rehearsalsPrefix = (taskId: string) => `rehearsal/${taskId}/`
export const rehearsalKey = (taskId: string, runId: string) => rehearsalsPrefix(taskId) + runId
/** Key prefix of the index of all runs in one state, newest last: for lists, and for a start that looks for interrupted runs. */
export const runStatesPrefix = (state: string) => `run-state/${state}/`
export const runStateKey = (state: string, runId: string) => runStatesPrefix(state) + runId
/** Key prefix of the states of conversations: the refused calls, and the newest run that waits or was interrupted. */
export const CONVERSATIONS = 'conversation/'
export const conversationKey = (thread: string) => CONVERSATIONS + thread

/**
 * Key prefix of the ledger's approvals of conversations, by approval id. They are removed by age, those of tasks together with their run.
 */
export const APPROVALS = 'approval/'
export const approvalKey = (id: string) => APPROVALS + id
export const taskApprovalKey = (id: string) => `task-approval/${id}`
/** Key prefix of the index of open approvals, by approval id, so that listing reads no closed ones. */
export const OPEN_APPROVALS = 'open-approval/'
export const openApprovalKey = (id: string) => OPEN_APPROVALS + id

/** Key prefix of the grants. `owner` is the digest of a thread's id, or the id of a task. */
export const GRANTS = 'grant/'
export const ownerGrantsPrefix = (owner: string) => `${GRANTS}${owner}/`
export const grantKey = (owner: string, grantId: string) => ownerGrantsPrefix(owner) + grantId

/** Key prefix of the files that each task has made, by task id: paths with the digests of the contents as the task left them. */
const MADE_FILES = 'task-made/'
export const madeFilesKey = (taskId: string) => MADE_FILES + taskId

/** Key prefix of the notifications and their deliveries, by notification id. Kept for a week after they are over. */
export const NOTIFICATIONS = 'notification/'
export const notificationKey = (id: string) => NOTIFICATIONS + id

/** Key prefix of the heads of threads: what is known of a thread without reading its messages. */
export const THREADS = 'thread/'
export const threadKey = (thread: string) => THREADS + thread
/**
 * Key prefix of the messages of threads. The number of a message that the conversation has now is its position; the messages of versions
 * have greater numbers. The record of an answer only names its run, whose events hold the text.
 */
export const MESSAGES = 'message/'
export const messagesPrefix = (thread: string) => `${MESSAGES}${thread}/`
export const messageKey = (thread: string, number: number) => historyKey('message', thread, number)
/** Key prefix of the turns of one thread: by the number of the user's message, with a digest of that message. */
export const turnsPrefix = (thread: string) => `turn/${thread}/`
export const turnKey = (thread: string, number: number) => historyKey('turn', thread, number)
/** Key prefix of the versions of one thread: turns that an edit or another answer has replaced, each with everything after it. */
export const versionsPrefix = (thread: string) => `version/${thread}/`
export const versionKey = (thread: string, n: number) => historyKey('version', thread, n)
/** Key prefix of the metadata of threads: titles, and the fields that clients have set. */
export const METADATA = 'metadata/'
export const metadataKey = (thread: string) => METADATA + thread
/** Key of the position up to which the extraction of facts has read a thread. */
export const readKey = (thread: string) => `read/${thread}`
/**
 * Key of the provenance of a conversation, a task or a rehearsal: where addresses came from, and what brought in private data and text of
 * others. `place` is the digest of the thread's id, the id of the task, or the run id of the rehearsal.
 */
export const provenanceKey = (place: string) => `provenance/${place}`
/**
 * Key prefix of the addresses that a model composed in a conversation with private data, by the digest of the address. Kept for a year,
 * because another conversation might read such an address in a file.
 */
export const COMPOSED = 'composed/'
export const composedKey = (digest: string) => COMPOSED + digest
/** Key prefix of the marks of file contents that a command wrote, by the digest of the content's hash. Kept for 90 days. */
export const COMMAND_FILES = 'command-file/'
export const commandFileKey = (digest: string) => COMMAND_FILES + digest
/** Key of a thread's summaries, which replace older messages in prompts. */
export const summaryKey = (thread: string) => `summary/${thread}`
/** Key of the ids of those memory entries that the models of a thread are told of. */
export const threadMemoryKey = (thread: string) => `thread-memory/${thread}`
/** Key prefix of the usage of model calls of each day, by model and role. `day` is a date such as 2026-01-31. */
export const DAY_USAGE = 'usage/'
export const dayUsageKey = (day: string) => DAY_USAGE + day
/** Key prefix of the amounts that a person has allowed on a day beyond `budget.day`, by the id of the question. Removed after that day. */
export const RAISED_BUDGETS = 'usage-raised/'
export const raisedBudgetPrefix = (day: string) => `${RAISED_BUDGETS}${day}/`
export const raisedBudgetKey = (day: string, approvalId: string) => raisedBudgetPrefix(day) + approvalId
/** Key prefix of the usage of model calls of each thread or each task, by day. */
export const ownerUsagePrefix = (kind: 'thread' | 'task') => `usage-of/${kind}/`
/** Returns the key of an owner's usage. `owner` is the digest of a thread's id, or the id of a task. */
export const ownerUsageKey = (kind: 'thread' | 'task', owner: string) => ownerUsagePrefix(kind) + owner
// The search index. A thread's messages are indexed in blocks of 16. `search-block/` has the words of each block; `search-shard/` has, for
// each word, the blocks that contain the word. A shard holds the words that begin with the same two letters, is named by digests of these
// letters, and is stored in numbered segments (records of limited size).
export const SEARCH_BLOCKS = 'search-block/'
export const searchBlocksPrefix = (thread: string) => `${SEARCH_BLOCKS}${thread}/`
export const searchBlockKey = (thread: string, block: number) => historyKey('search-block', thread, block)
export const SEARCH_SHARDS = 'search-shard/'
export const searchSegmentKey = (shard: string, segment: number) => historyKey('search-shard', shard, segment)
/** Key prefix of the changes of threads that the search index does not contain yet, in the order in which they were made. */
export const SEARCH_DUE = 'search-due/'
export const searchDuePrefix = (thread: string) => `${SEARCH_DUE}${thread}/`
export const searchDueKey = (thread: string, id: string) => searchDuePrefix(thread) + id
/** Key of a record that exists if every thread is in the search index, or is due to be added. */
export const SEARCH_BUILT = 'search-built'
/**
 * Key of the list of the threads (digests) that the newest write added to the search index. One of them might have been removed meanwhile.
 */
export const SEARCH_TAKEN = 'search-taken'
/** Key prefix of the index of threads by the time of their last change. The records are empty. */
export const RECENT = 'recent/'
export const recentKey = (time: number, thread: string) => `${RECENT}${padded(time, 15)}-${thread}`
/**
 * Key prefix of deleted threads that can be brought back: the facts that lists show of a thread. Its records are in pieces, below
 * `thread-trash-part/`.
 */
export const THREAD_TRASH = 'thread-trash/'
export const threadTrashKey = (thread: string) => THREAD_TRASH + thread
export const threadTrashPartsPrefix = (thread: string) => `thread-trash-part/${thread}/`
export const threadTrashPartKey = (thread: string, n: number) => threadTrashPartsPrefix(thread) + padded(n, 6)
/**
 * Key prefix of the index of threads with user messages that changed since they were last searched for facts, by the time of that change.
 */
export const UNREAD = 'unread/'
export const unreadKey = (time: number, thread: string) => `${UNREAD}${padded(time, 15)}-${thread}`
/** Parses a key of RECENT or UNREAD. The time is in milliseconds since the Unix epoch, and `thread` is the digest of the thread's id. */
export function parseIndexKey (key: string): { time: number, thread: string } {
  const [time, thread] = key.slice(key.indexOf('/') + 1).split('-')
  return { time: Number(time), thread }
}
/**
 * Key prefix of the index of turns by the digest of everything that was said up to the end of the turn. Requests without a thread id find
 * their thread by it, so it has only the threads whose ids the service made.
 */
export const FOUND = 'found/'
export const foundPrefix = (digest: string) => `${FOUND}${digest}/`
export const foundKey = (digest: string, thread: string) => `${foundPrefix(digest)}${thread}`

/**
 * Key prefix of the tasks. A record also has the user's message from which the task was made (`request`), and the user's words before it.
 */
export const TASKS = 'task/'
export const taskKey = (taskId: string) => TASKS + taskId
/**
 * Key prefix of the index of tasks. The records are empty: the key holds status and type, so that a list reads only the tasks it shows. The
 * index is built again when it is missing.
 */
export const TASK_STATES = 'task-state/'
export const taskStateKey = (taskId: string, { status, taskType }: { status?: string, taskType?: string }) =>
  `${TASK_STATES}${status}/${taskType}/${taskId}`
/** Key prefix of the index of the tasks that one conversation has made. */
export const tasksMadeInPrefix = (thread: string) => `task-made-in/${thread}/`
export const taskMadeInKey = (thread: string, taskId: string) => tasksMadeInPrefix(thread) + taskId
/** Key prefix of the slots of one task. A slot is a planned time of a run, and its record says what became of it. */
export const slotsPrefix = (taskId: string) => `task-slot/${taskId}/`
/**
 * Returns the key of a slot. A slot that stands for a range of times also has the start of the range in its key, so that keys never
 * collide.
 */
export const slotKey = (taskId: string, { at, from }: { at: number, from?: number }) =>
  slotsPrefix(taskId) + [at, ...from === undefined ? [] : [from]].map((time) => padded(time, 16)).join('-')
/** Key prefix of the firings of one task's triggers: what became of each. Ids sort by time. */
export const firingsPrefix = (taskId: string) => `task-firing/${taskId}/`
export const firingKey = (taskId: string, id: string) => firingsPrefix(taskId) + id
/** Key prefix of the files that the file triggers of tasks have seen, by the digest of the trigger's folder and glob. */
const TRIGGER_SEEN = 'trigger-seen/'
export const triggerSeenPrefix = (taskId: string) => `${TRIGGER_SEEN}${taskId}/`
export const triggerSeenKey = (taskId: string, digest: string) => triggerSeenPrefix(taskId) + digest
/** Key prefix of the index of the tasks that are to run when a run of this task ends. `dependent` is the id of such a task. */
export const triggersOnPrefix = (taskId: string) => `trigger-on/${taskId}/`
export const triggerOnKey = (taskId: string, dependent: string) => triggersOnPrefix(taskId) + dependent
/** Key prefix of the cues of one task: ended runs of other tasks for which this task must still run. `runId` is the ended run. */
export const triggerCuesPrefix = (taskId: string) => `trigger-cue/${taskId}/`
export const triggerCueKey = (taskId: string, runId: string) => triggerCuesPrefix(taskId) + runId
/** Key prefix of the time up to which each reader has seen the digest of outcomes. `client` is the reader's name. Kept for a year. */
export const DIGEST_SEEN = 'digest-seen/'
export const digestSeenKey = (client: string) => DIGEST_SEEN + client
/** Key prefix of the outcomes of runs, slots and firings of one kind, in order of time. */
export const outcomePrefix = (kind: string) => `task-past/${kind}/`
export const outcomeKey = (kind: string, at: number, id: string) => `${outcomePrefix(kind)}${padded(at, 16)}-${id}`
/** Returns the time in the key of an outcome, in milliseconds since the Unix epoch. */
export const outcomeTime = (kind: string, key: string) =>
  Number(key.slice(outcomePrefix(kind).length, outcomePrefix(kind).length + 16))
/** Key prefix of the tasks that requests to `/run` created, by the digest of the conversation's words. */
export const TASK_ORIGINS = 'task-origin/'
export const taskOriginKey = (digest: string) => TASK_ORIGINS + digest
/** Key prefix of the marks of deleted tasks. Their runs are removed later, also when the service dies in between. */
export const TASK_TRASH = 'task-trash/'
export const taskTrashKey = (taskId: string) => TASK_TRASH + taskId

/**
 * Key prefix of the attachments of messages, by the digest of the content: type, size, name, and the file of the content with its
 * encryption key. The content itself is in files beside the store.
 */
export const ATTACHMENTS = 'attachment/'
export const attachmentKey = (digest: string) => ATTACHMENTS + digest
/** Key prefix, in backups only, of the contents of attachments, each in pieces. */
export const ATTACHMENT_BYTES = 'attachment-bytes/'
/** Key of the mark of an attachment that was uploaded and that no message has named since. */
export const awaitedAttachmentKey = (digest: string) => `attachment-awaited/${digest}`
/** Key prefix of the index of the messages that name an attachment, by the digest of the attachment's content. */
export const ATTACHMENT_USES = 'attachment-use/'
export const attachmentUsesPrefix = (digest: string) => `${ATTACHMENT_USES}${digest}/`
export const attachmentUseKey = (digest: string, thread: string, seq: number) => historyKey(`attachment-use/${digest}`, thread, seq)
/** Key prefix of the attachments that the messages of one thread name: the index of ATTACHMENT_USES in the other direction. */
export const attachmentsOfPrefix = (thread: string) => `attachment-of/${thread}/`
export const attachmentOfKey = (thread: string, seq: number, digest: string) => `${historyKey('attachment-of', thread, seq)}/${digest}`

/**
 * Key prefix of the undo entries: the state that a call was about to change, with the encryption key of its file of copies. The copies are
 * on this machine only, so these records are in no backup.
 */
export const UNDO_ENTRIES = 'undo/'
export const undoEntriesPrefix = (runId: string) => `${UNDO_ENTRIES}${runId}/`
export const undoEntryKey = (runId: string, entryId: string) => undoEntriesPrefix(runId) + entryId
/** Key prefix of the index of the files of copies, by the id of their undo entry (ids sort by time) and their size in bytes. */
export const UNDO_FILES = 'undo-file/'
export const undoFilesPrefix = (entryId: string) => `${UNDO_FILES}${entryId}/`
export const undoFileKey = (entryId: string, bytes: number) => undoFilesPrefix(entryId) + bytes
/** Key prefix of the index of undo entries whose call has not ended. */
export const UNDO_OPEN = 'undo-open/'
export const undoOpenKey = (entryId: string) => UNDO_OPEN + entryId
/** Key prefix of the index of the runs that changed files. `owner` is the digest of a thread's id, or the id of a task. */
export const UNDO_OWNERS = 'undo-owner/'
export const undoOwnerPrefix = (owner: string) => `${UNDO_OWNERS}${owner}/`
export const undoOwnerKey = (owner: string, runId: string) => undoOwnerPrefix(owner) + runId
/** Key prefix of the index of the undos and applies of a run's changes. `runId` is that run, `workId` the id of the undo or apply. */
export const UNDO_WORKS = 'undo-work/'
export const undoWorksPrefix = (runId: string) => `${UNDO_WORKS}${runId}/`
export const undoWorkKey = (runId: string, workId: string) => undoWorksPrefix(runId) + workId
/**
 * Key prefix of the newest snapshot of each folder that commands work in: its file and encryption key, by the digest of the folder's path.
 */
export const UNDO_TREES = 'undo-tree/'
export const undoTreeKey = (folderDigest: string) => UNDO_TREES + folderDigest

/**
 * Key prefix of the state, before a command in a box, of the files in a folder that programs act on (git settings, hooks, editor settings).
 * Removed after the check that follows the command. A box is the sandbox of a command.
 */
export const BOX_STATES = 'box-state/'
export const boxStateKey = (folderDigest: string) => BOX_STATES + folderDigest
/** Key of a change that the check of a folder has begun to put back. */
export const boxBegunKey = (folderDigest: string, id: string) => `${BOX_STATES}${folderDigest}/${id}`
/** Key prefix of the commits that commands in boxes made or fetched: one record for each command that did, in their order. */
export const BOX_COMMITS = 'box-commits/'
export const boxCommitsKey = (id: string) => BOX_COMMITS + id

const UNDO = [UNDO_ENTRIES, UNDO_FILES, UNDO_OPEN, UNDO_OWNERS, UNDO_WORKS, UNDO_TREES]
const LOCAL = [
  ...[GRANTS, MADE_FILES, BOX_STATES, BOX_COMMITS, ...UNDO, TRIGGER_SEEN],
  ...[SEARCH_BLOCKS, SEARCH_SHARDS, SEARCH_DUE, SEARCH_BUILT, SEARCH_TAKEN],
  recordKey(RECORDS.devices)
]

/**
 * Returns whether a record stays on this machine, in no backup. A grant holds only where the user gave it, and a backup made by somebody
 * else must not bring any. A device that was paired here decides nothing elsewhere. Another machine has other files. The search index can
 * be built again.
 */
export const isLocal = (key: string): boolean => LOCAL.some((prefix) => key.startsWith(prefix))

/** Key prefix of the copies of folders that runs of conversations work in. A copy is in the folder `{config_dir}-copies/<id>`. */
export const COPIES = 'copy/'
export const copyKey = (thread: string, copyId: string) => `${COPIES}${thread}/${copyId}`
