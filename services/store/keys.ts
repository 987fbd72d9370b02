import { recordKey } from './record-names.ts'

// The keys of all records. A prefix ends with "/". `thread` is the digest of a thread's id, because clients choose the ids. This file is
// the list of what the store holds. The store itself has further records: `!meta` (the schema `{base, version}` and the source of the key),
// `!session`, `!probe` and `!migrating`, which are not encrypted, and `!digest`, which is encrypted.

/** Returns the key of a history entry. Keys sort by `seq`, so a history is listed in the order it was written. */
export const historyKey = (prefix: string, id: string, seq: number): string => `${prefix}/${id}/${String(seq).padStart(10, '0')}`
/** Pads a time in milliseconds since the Unix epoch with zeros, so that keys sort by time. */
const padded = (time: number, digits: number) => String(time).padStart(digits, '0')

/** The decided requests for approval, kept for a year. A record holds a digest of the input, not the input. */
export const DECIDED = 'decided/'
export const decidedKey = (approvalId: string) => DECIDED + approvalId
/** The index of the decided requests by conversation or task. */
export const DECIDED_OF = 'decided-of/'
export const decidedOfPrefix = (owner: string) => `${DECIDED_OF}${owner}/`
export const decidedOfKey = (owner: string, approvalId: string) => decidedOfPrefix(owner) + approvalId

/** Names of single records, for `Store.record`. The items of the memory are a record each, `!record/brain/<list>/<id>`. */
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
/** Marks imported data until its tasks have been checked. */
export const IMPORTED = 'imported'
/** First answers of requests with an `Idempotency-Key`, by digest. */
export const IDEMPOTENCY = 'idempotency/'

/** The records of runs of conversations and of tasks. */
export const RUNS = 'run/'
export const runKey = (runId: string) => RUNS + runId
/** Whether a run belongs to a conversation or a task. Runs of conversations are kept for some days only. */
export type OwnerKind = 'thread' | 'task'
/** The events of runs, in their order. */
export const runEventsOf = (kind: OwnerKind) => `run-event/${kind}/`
export const runEventsPrefix = (kind: OwnerKind, runId: string) => `${runEventsOf(kind)}${runId}/`
export const runEventsKey = (kind: OwnerKind, runId: string, chunk: number) => historyKey(`run-event/${kind}`, runId, chunk)
/**
 * Parts of what models were told beside the messages (tools, system prompt, guide, skills), each stored once. A part is removed with the
 * last run that uses it, for conversations a week after that run began.
 */
export const CONTEXTS = 'context/'
export const contextsPrefix = (digest: string) => `${CONTEXTS}${digest}-`
export const contextKey = (contextId: string) => CONTEXTS + contextId
/** The index of the runs that use such a part, by part. */
export const CONTEXT_USES = 'context-use/'
export const contextUsesPrefix = (contextId: string) => `${CONTEXT_USES}${contextId}/`
export const contextUseKey = (contextId: string, runId: string) => contextUsesPrefix(contextId) + runId
/** The requests of runs of conversations that wait, or have waited, for a person. */
export const RUN_INPUTS = 'run-input/'
export const runInputKey = (runId: string) => RUN_INPUTS + runId
/** The data that a run of a task began with, kept as long as the run. */
export const taskInputKey = (runId: string) => `task-input/${runId}`
/** The index of the runs of a conversation, newest last. */
export const THREAD_RUNS = 'thread-run/'
export const threadRunsPrefix = (thread: string) => `${THREAD_RUNS}${thread}/`
export const threadRunKey = (thread: string, runId: string) => threadRunsPrefix(thread) + runId
/** The index of the runs of a task, by their numbers. */
export const taskRunsPrefix = (taskId: string) => `task-run/${taskId}/`
export const taskRunKey = (taskId: string, runNumber: number) => historyKey('task-run', taskId, runNumber)
/** The rehearsals of a task, newest last. */
export const rehearsalsPrefix = (taskId: string) => `rehearsal/${taskId}/`
export const rehearsalKey = (taskId: string, runId: string) => rehearsalsPrefix(taskId) + runId
/** The index of all runs by state, newest last: for lists, and for a start that looks for interrupted runs. */
export const runStatesPrefix = (state: string) => `run-state/${state}/`
export const runStateKey = (state: string, runId: string) => runStatesPrefix(state) + runId
/** The refused calls of a conversation, and its newest run that waits or was interrupted. */
export const CONVERSATIONS = 'conversation/'
export const conversationKey = (thread: string) => CONVERSATIONS + thread

/** The ledger. Approvals of conversations are removed by their age, those of tasks with their run. */
export const APPROVALS = 'approval/'
export const approvalKey = (id: string) => APPROVALS + id
export const taskApprovalKey = (id: string) => `task-approval/${id}`
/** The index of open approvals, so that listing reads no closed ones. */
export const OPEN_APPROVALS = 'open-approval/'
export const openApprovalKey = (id: string) => OPEN_APPROVALS + id

/** Grants, by the digest of a thread or the id of a task. */
export const GRANTS = 'grant/'
export const ownerGrantsPrefix = (owner: string) => `${GRANTS}${owner}/`
export const grantKey = (owner: string, grantId: string) => ownerGrantsPrefix(owner) + grantId

/** The files that a task has made, with the digests of their contents as the task left them. */
const MADE_FILES = 'task-made/'
export const madeFilesKey = (taskId: string) => MADE_FILES + taskId

/** Notifications, and what became of each; kept for a week after they are over. */
export const NOTIFICATIONS = 'notification/'
export const notificationKey = (id: string) => NOTIFICATIONS + id

/** The heads of threads. */
export const THREADS = 'thread/'
export const threadKey = (thread: string) => THREADS + thread
/**
 * The messages of threads, numbered in the order in which they were written; the head has the path of those that the conversation has now.
 * The message of an answer only names its run.
 */
export const MESSAGES = 'message/'
export const messagesPrefix = (thread: string) => `${MESSAGES}${thread}/`
export const messageKey = (thread: string, number: number) => historyKey('message', thread, number)
/**
 * The turns of a thread, by the number of the user's message, with a digest of that message. A replaced turn names the messages after it.
 * They are kept until the turn has too many versions.
 */
export const turnsPrefix = (thread: string) => `turn/${thread}/`
export const turnKey = (thread: string, number: number) => historyKey('turn', thread, number)
/** Titles and the fields of clients. */
export const METADATA = 'metadata/'
export const metadataKey = (thread: string) => METADATA + thread
/** How far the extraction of facts has read a thread. */
export const readKey = (thread: string) => `read/${thread}`
/**
 * The origins of the addresses of a thread or task, and what brought in private data and text of others. `place` is the id of the task, or
 * the digest of the thread.
 */
export const provenanceKey = (place: string) => `provenance/${place}`
/**
 * Addresses that a model composed in a conversation with private data, by digest, for a year: another conversation may read such an address
 * in a file.
 */
export const COMPOSED = 'composed/'
export const composedKey = (digest: string) => COMPOSED + digest
/** Contents of files that a command wrote, by digest, for 90 days. */
export const COMMAND_FILES = 'command-file/'
export const commandFileKey = (digest: string) => COMMAND_FILES + digest
/** The summaries that replace older messages in prompts. */
export const summaryKey = (thread: string) => `summary/${thread}`
/** The ids of the memory's entries that the models of a thread are told of. */
export const threadMemoryKey = (thread: string) => `thread-memory/${thread}`
/** The usage of model calls by day, model and role. */
export const DAY_USAGE = 'usage/'
export const dayUsageKey = (day: string) => DAY_USAGE + day
/** What a person allowed on a day beyond `budget.day`, by the id of the question. Removed after that day. */
export const RAISED_BUDGETS = 'usage-raised/'
export const raisedBudgetPrefix = (day: string) => `${RAISED_BUDGETS}${day}/`
export const raisedBudgetKey = (day: string, approvalId: string) => raisedBudgetPrefix(day) + approvalId
/** The usage of model calls of each thread and task, by day. */
export const ownerUsagePrefix = (kind: 'thread' | 'task') => `usage-of/${kind}/`
/** `owner` is the digest of a thread's id, or the id of a task. */
export const ownerUsageKey = (kind: 'thread' | 'task', owner: string) => ownerUsagePrefix(kind) + owner
// The index of words of the search: the words of each block of a thread's messages, and the blocks by word, in segments of shards. A shard
// holds the words that begin with the same two letters, and is named by digests of them.
export const SEARCH_BLOCKS = 'search-block/'
export const searchBlocksPrefix = (thread: string) => `${SEARCH_BLOCKS}${thread}/`
export const searchBlockKey = (thread: string, block: number) => historyKey('search-block', thread, block)
export const SEARCH_SHARDS = 'search-shard/'
export const searchSegmentKey = (shard: string, segment: number) => historyKey('search-shard', shard, segment)
/** Changes of threads that are not in the index yet, in the order in which they were made. */
export const SEARCH_DUE = 'search-due/'
export const searchDuePrefix = (thread: string) => `${SEARCH_DUE}${thread}/`
export const searchDueKey = (thread: string, id: string) => searchDuePrefix(thread) + id
/** Present if every thread is in the index, or is due to be added. */
export const SEARCH_BUILT = 'search-built'
/** The threads that were taken into the index last: one of them may have been removed meanwhile. */
export const SEARCH_TAKEN = 'search-taken'
/** The index of threads by the time of their last change. */
export const RECENT = 'recent/'
export const recentKey = (time: number, thread: string) => `${RECENT}${padded(time, 15)}-${thread}`
/** Deleted threads that can be brought back, by their digests: what lists show of one, and its records in pieces. */
export const THREAD_TRASH = 'thread-trash/'
export const threadTrashKey = (thread: string) => THREAD_TRASH + thread
export const threadTrashPartsPrefix = (thread: string) => `thread-trash-part/${thread}/`
export const threadTrashPartKey = (thread: string, n: number) => threadTrashPartsPrefix(thread) + padded(n, 6)
/** The index of threads with user messages that changed since they were last searched for facts. */
export const UNREAD = 'unread/'
export const unreadKey = (time: number, thread: string) => `${UNREAD}${padded(time, 15)}-${thread}`
/** Parses a key of RECENT or UNREAD. The time is in milliseconds since the Unix epoch. */
export function parseIndexKey (key: string): { time: number, thread: string } {
  const [time, thread] = key.slice(key.indexOf('/') + 1).split('-')
  return { time: Number(time), thread }
}
/** The index of turns by a digest of all that was said up to their end, for threads that the service named. */
export const FOUND = 'found/'
export const foundPrefix = (digest: string) => `${FOUND}${digest}/`
export const foundKey = (digest: string, thread: string) => `${foundPrefix(digest)}${thread}`

/** Tasks, each with the user's message from which it was made (`request`), and what the user wrote before that message. */
export const TASKS = 'task/'
export const taskKey = (taskId: string) => TASKS + taskId
/**
 * The index of tasks: one empty record each. The key holds status and type, so that a list reads only the tasks it shows. It is built again
 * when it is missing.
 */
export const TASK_STATES = 'task-state/'
export const taskStateKey = (taskId: string, { status, taskType }: { status?: string, taskType?: string }) =>
  `${TASK_STATES}${status}/${taskType}/${taskId}`
/** The index of the tasks that a conversation has made. */
export const tasksMadeInPrefix = (thread: string) => `task-made-in/${thread}/`
export const taskMadeInKey = (thread: string, taskId: string) => tasksMadeInPrefix(thread) + taskId
/** What became of each slot of a task. */
export const slotsPrefix = (taskId: string) => `task-slot/${taskId}/`
/** A slot that stands for a range also has the start of the range in its key, so that keys never collide. */
export const slotKey = (taskId: string, { at, from }: { at: number, from?: number }) =>
  slotsPrefix(taskId) + [at, ...from === undefined ? [] : [from]].map((time) => padded(time, 16)).join('-')
/** What became of each firing of a task's triggers. Ids sort by time. */
export const firingsPrefix = (taskId: string) => `task-firing/${taskId}/`
export const firingKey = (taskId: string, id: string) => firingsPrefix(taskId) + id
/** The files that a trigger for files has seen, by the digest of its folder and glob. */
const TRIGGER_SEEN = 'trigger-seen/'
export const triggerSeenPrefix = (taskId: string) => `${TRIGGER_SEEN}${taskId}/`
export const triggerSeenKey = (taskId: string, digest: string) => triggerSeenPrefix(taskId) + digest
/** The index of the tasks that run when a task ends. */
export const triggersOnPrefix = (taskId: string) => `trigger-on/${taskId}/`
export const triggerOnKey = (taskId: string, dependent: string) => triggersOnPrefix(taskId) + dependent
/** The ends of other tasks' runs for which a task must still run. */
export const triggerCuesPrefix = (taskId: string) => `trigger-cue/${taskId}/`
export const triggerCueKey = (taskId: string, runId: string) => triggerCuesPrefix(taskId) + runId
/** How far each reader has seen the digest of outcomes, for a year. */
export const DIGEST_SEEN = 'digest-seen/'
export const digestSeenKey = (client: string) => DIGEST_SEEN + client
/** Outcomes of runs and slots in order of time. */
export const outcomePrefix = (kind: string) => `task-past/${kind}/`
export const outcomeKey = (kind: string, at: number, id: string) => `${outcomePrefix(kind)}${padded(at, 16)}-${id}`
/** The time in the key of an outcome; milliseconds since the Unix epoch. */
export const outcomeTime = (kind: string, key: string) =>
  Number(key.slice(outcomePrefix(kind).length, outcomePrefix(kind).length + 16))
/** The task that a request to `/run` created, by a digest of the words of the conversation. */
export const TASK_ORIGINS = 'task-origin/'
export const taskOriginKey = (digest: string) => TASK_ORIGINS + digest
/** Marks of deleted tasks. Their runs are removed later, also when the service dies in between. */
export const TASK_TRASH = 'task-trash/'
export const taskTrashKey = (taskId: string) => TASK_TRASH + taskId

/**
 * What users attached to messages: type, size, name, and the file of the content with its key. The digest of the content is keyed. The
 * content is in files beside the store.
 */
export const ATTACHMENTS = 'attachment/'
export const attachmentKey = (digest: string) => ATTACHMENTS + digest
/** In backups only: the content of an attachment, in pieces. */
export const ATTACHMENT_BYTES = 'attachment-bytes/'
/** Attachments that were uploaded and that no message has named since. */
export const awaitedAttachmentKey = (digest: string) => `attachment-awaited/${digest}`
/** The index of the messages that name an attachment, by attachment. */
export const ATTACHMENT_USES = 'attachment-use/'
export const attachmentUsesPrefix = (digest: string) => `${ATTACHMENT_USES}${digest}/`
export const attachmentUseKey = (digest: string, thread: string, seq: number) => historyKey(`attachment-use/${digest}`, thread, seq)
/** The same index by thread. */
export const attachmentsOfPrefix = (thread: string) => `attachment-of/${thread}/`
export const attachmentOfKey = (thread: string, seq: number, digest: string) => `${historyKey('attachment-of', thread, seq)}/${digest}`

/**
 * The state that a call was about to change, with the key of its copy. The copies lie on this machine only, so these records are in no
 * backup.
 */
export const UNDO_ENTRIES = 'undo/'
export const undoEntriesPrefix = (runId: string) => `${UNDO_ENTRIES}${runId}/`
export const undoEntryKey = (runId: string, entryId: string) => undoEntriesPrefix(runId) + entryId
/** The index of the copies in order of time, with their sizes in bytes. */
export const UNDO_FILES = 'undo-file/'
export const undoFilesPrefix = (entryId: string) => `${UNDO_FILES}${entryId}/`
export const undoFileKey = (entryId: string, bytes: number) => undoFilesPrefix(entryId) + bytes
/** The index of entries whose call has not ended. */
export const UNDO_OPEN = 'undo-open/'
export const undoOpenKey = (entryId: string) => UNDO_OPEN + entryId
/** The index of the runs of a task, or of a thread by its digest, that changed files. */
export const UNDO_OWNERS = 'undo-owner/'
export const undoOwnerPrefix = (owner: string) => `${UNDO_OWNERS}${owner}/`
export const undoOwnerKey = (owner: string, runId: string) => undoOwnerPrefix(owner) + runId
/** The index of the undos and applies of the changes of a run. */
export const UNDO_WORKS = 'undo-work/'
export const undoWorksPrefix = (runId: string) => `${UNDO_WORKS}${runId}/`
export const undoWorkKey = (runId: string, workId: string) => undoWorksPrefix(runId) + workId
/** The file and key of the newest snapshot of each folder that commands work in, by the digest of the folder's path. */
export const UNDO_TREES = 'undo-tree/'
export const undoTreeKey = (folderDigest: string) => UNDO_TREES + folderDigest

/**
 * The state of the files that programs obey in a folder (git settings, hooks, editor settings), from before a command in a box. Removed
 * after the check that follows the command.
 */
export const BOX_STATES = 'box-state/'
export const boxStateKey = (folderDigest: string) => BOX_STATES + folderDigest
/** What a check of the folder began to put back. */
export const boxBegunKey = (folderDigest: string, id: string) => `${BOX_STATES}${folderDigest}/${id}`
/** The commits that commands in boxes made or fetched: one record for each command that did, in their order. */
export const BOX_COMMITS = 'box-commits/'
export const boxCommitsKey = (id: string) => BOX_COMMITS + id

const UNDO = [UNDO_ENTRIES, UNDO_FILES, UNDO_OPEN, UNDO_OWNERS, UNDO_WORKS, UNDO_TREES]
const LOCAL = [
  ...[GRANTS, MADE_FILES, BOX_STATES, BOX_COMMITS, ...UNDO, TRIGGER_SEEN],
  ...[SEARCH_BLOCKS, SEARCH_SHARDS, SEARCH_DUE, SEARCH_BUILT, SEARCH_TAKEN],
  recordKey(RECORDS.devices)
]

/**
 * Whether a record stays on this machine, in no backup. A grant holds only where the user gave it, and a backup made by somebody else must
 * not bring any. A device that was paired here decides nothing elsewhere. Another machine has other files. The index of words can be made
 * again.
 */
export const isLocal = (key: string): boolean => LOCAL.some((prefix) => key.startsWith(prefix))

/** The copies of folders that runs of conversations work in. A copy is in `{config_dir}-copies/<id>`. */
export const COPIES = 'copy/'
export const copyKey = (thread: string, copyId: string) => `${COPIES}${thread}/${copyId}`
