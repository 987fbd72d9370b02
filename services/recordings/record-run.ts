import { readFile, realpath, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Config } from '../../schemas/config.ts'
import type { Task } from '../../schemas/tasks.ts'
import type { Approval } from '../contracts/approval-record.ts'
import { MEMORY_FOLLOWS } from '../contracts/model-texts.ts'
import type { RunEvent } from '../contracts/run-events.ts'
import { defineError } from '../lib/service-error.ts'
import { VERSION } from '../lib/version.ts'
import type { ContextWindows, Registry } from '../models/index.ts'
import type { Run, RunRecord, RunRepository, TaskRun, ThreadRun } from '../runs/index.ts'
import { type ThreadRepository, writtenForm } from '../threads/index.ts'
import { contentDigest, type ToolHost, type Transform } from '../tools/index.ts'
import type { Undo } from '../undo/index.ts'
import { linesOfRun, type RunItem } from './lines-of-run.ts'
import { type FileLine, FORMAT, type Header, type Line, MOST_BYTES, type RequestLine, type ServerLine } from './recording.ts'
import { placeholder } from './scrub.ts'

const RunUnknown = defineError('ERR_RUN_NOT_FOUND', 'There is no run "%s". GET /runs lists them.')
const RunLive = defineError('ERR_RUN_LIVE', 'The run "%s" is not over. Stop it, or answer what it waits for, before it is recorded.')
const RunGone = defineError('ERR_RUN_GONE', 'The steps of the run "%s" are not stored any more, so it cannot be recorded.')
const RecordingTooLarge = defineError(
  'ERR_RECORDING_TOO_LARGE',
  'The recording would have more than 50 MiB. Record a run with smaller files, images or outputs.'
)

/** The time limit of the search for secrets; milliseconds. */
const SCRUB_MS = 60_000
/** The most bytes of a file that the recording includes; larger files are left out. */
const MOST_TEXT = 256 * 1024

interface RecordParts {
  runs: Pick<RunRepository, 'get' | 'load'>
  threads: Pick<ThreadRepository, 'get' | 'messages' | 'resolve'>
  tasks: { get(taskId: string): Promise<Task>, wholeRun(runId: string): Promise<{ input?: unknown } | undefined> }
  ledger: { all(ids: string[]): Promise<Approval[]>, ofTask(ids: string[]): Promise<Approval[]> }
  undo: Pick<Undo, 'texts'>
  host: Pick<ToolHost, 'sources' | 'permission' | 'find'>
  registry: Pick<Registry, 'forRun' | 'active'> & Pick<ContextWindows, 'contextWindow'>
  config: () => Config
  /** Returns the kind of box (sandbox) in which commands run; undefined while it is unknown. */
  box: () => Header['box']
  /** Returns every secret that the service knows. */
  secrets: () => string[]
  /** Returns the default working folder of runs. */
  workspace: () => string
  /** The description of the computer in system prompts. */
  machine: string
  now: () => number
  /** Runs the search for secrets in a worker. */
  transform: Pick<Transform, 'run'>
  /** Resolves to true if a run has not ended; to undefined if it is unknown. */
  isLive(runId: string): Promise<boolean | undefined>
}

/**
 * Returns the recording of a run that has ended, as text. Throws RunUnknown (404), RunLive (409), RunGone (410) or RecordingTooLarge (413).
 */
export async function recordRun (runId: string, parts: RecordParts, signal: AbortSignal): Promise<string> {
  const live = await parts.isLive(runId)
  if (live === true) throw new RunLive(runId)
  const record = await parts.runs.get(runId)
  if (record === undefined) throw new RunUnknown(runId)
  const run = await parts.runs.load(runId)
  if (run === undefined) throw new RunGone(runId)
  const { events } = run.log
  const ids = [...new Set(record.asked)]
  const asks = await (record.taskId === undefined ? parts.ledger.all(ids) : parts.ledger.ofTask(ids))
  const items = asks.filter((item): item is RunItem => item.kind !== 'task')
  const box = parts.box()
  const header: Header = {
    ...{ type: 'recording', version: FORMAT, service: VERSION, recordedAt: parts.now(), startedAt: record.startedAt },
    models: await modelsOf(run, parts, signal),
    config: settingsOf(parts.config()),
    ...(box !== undefined && { box })
  }
  const notHeld: string[] = []
  const asked = record.taskId === undefined
    ? await requestOf(run as Run<ThreadRun>, parts, notHeld)
    : await taskOf(record, parts)
  const happened = linesOfRun(events, items, record).map((line) => line.type === 'context' ? withoutMemory(line, notHeld) : line)
  const files = await filesOf(record, events, parts, notHeld)
  const lines = [asked, ...serversOf(happened, parts), ...files, ...happened]
  const why = whyNotReplayed(record, events, asked)
  const whole = { ...header, ...(notHeld.length > 0 && { notHeld }), ...(why !== undefined && { cannotReplay: why }) }
  const request = { header: whole, lines, known: parts.secrets(), folders: await foldersOf(record, parts), mostBytes: MOST_BYTES }
  const text = await parts.transform.run('recording', request, { signal, ms: SCRUB_MS })
  if (text === null) throw new RecordingTooLarge()
  return text
}

/** Returns the capable model of a run with its context window in tokens, and the model that answered questions beside the steps. */
async function modelsOf ({ record, log }: Run, { registry }: RecordParts, signal: AbortSignal): Promise<Header['models']> {
  const aside = log.events.findLast((event) => event.type === 'aside')
  const capable = (record as ThreadRun).model?.id ?? record.options?.model ?? registry.active()
  const fast = aside?.model ?? registry.forRun({ ...record.options, model: capable }).roles().fast
  const window = await registry.contextWindow(capable, 0, signal)
  return { capable, fast, ...(Number.isFinite(window) && { window }) }
}

const settingsOf = ({ permissions, analysis, agent, commands, roots }: Config): Header['config'] => ({
  ...(roots && { roots }),
  ...(commands && { commands }),
  ...(permissions && { permissions }),
  ...(analysis !== undefined && { analysis }),
  ...(agent && { agent })
})

async function requestOf (
  { record, messages, durable }: Run<ThreadRun>,
  { threads }: RecordParts,
  notHeld: string[]
): Promise<RequestLine> {
  const { threadId, history, answerAt, options } = record
  const more = options && { options }
  if (history?.older !== undefined) notHeld.push(`${history.older.messages} older messages of the conversation`)
  if (durable && messages.length > 0) {
    return { type: 'request', messages: (await threads.resolve(threadId, messages)).flatMap(writtenForm), ...more }
  }
  const read = async (from: number, to: number) =>
    to > from ? (await threads.messages(threadId, { from, limit: to - from })).flatMap(writtenForm) : []
  const { lead, from } = history ?? { lead: 0, from: Math.max(answerAt - 1, 0) }
  if (history === undefined) notHeld.push('the conversation before the request, whose place in the thread is not known')
  return { type: 'request', messages: [...await read(0, lead), ...await read(from, answerAt)], ...more }
}

async function taskOf (record: TaskRun, { tasks }: RecordParts): Promise<Line> {
  const { goal, plan: { qualityCriteria, expects }, approval: { mode, firstN }, options: ofTask } = await tasks.get(record.taskId)
  const options = record.options ?? ofTask
  const input = record.inputBytes === undefined ? undefined : (await tasks.wholeRun(record.runId))?.input
  return {
    ...{ type: 'task', goal },
    plan: { phases: record.phases.map(({ description }) => ({ description })), qualityCriteria, ...(expects && { expects }) },
    approval: { mode, ...((mode === 'first_n' || mode === 'changes') && { firstN }) },
    ...(options && Object.keys(options).length > 0 && { options }),
    ...(record.steering.length > 0 && { steering: record.steering }),
    ...(input !== undefined && { input })
  }
}

/** Returns the context line with a placeholder for the user's memory, which is the end of one of the system messages. */
function withoutMemory<L extends { system: string[] }> (line: L, notHeld: string[]): L {
  const cut = (text: string) => {
    const at = text.indexOf(MEMORY_FOLLOWS)
    if (at === -1) return text
    notHeld.push('what is remembered of the user')
    return text.slice(0, at) + placeholder('memory')
  }
  return { ...line, system: line.system.map(cut) }
}

/** Returns the tool servers with tools that the run could use or that it called. */
function serversOf (lines: readonly Line[], { host }: RecordParts): ServerLine[] {
  const names = new Set(lines.flatMap((line) => {
    if (line.type === 'context') return [...line.tools.map(({ name }) => name), ...line.deferred ?? []]
    return line.type === 'call' ? [line.toolName] : []
  }))
  return host.sources().filter(({ given }) => given.some(({ model }) => names.has(model.name))).map(({ name, instructions, given }) => ({
    ...{ type: 'server', name },
    ...(instructions !== undefined && { instructions }),
    tools: given.map((tool) => ({
      ...{ name: tool.model.name, description: tool.model.description, inputSchema: tool.model.schema, effect: tool.policy.effect },
      permission: host.permission(tool.model.name)
    }))
  }))
}

/** Returns the files that the run changed, and the files that it read if they have not changed since. */
async function filesOf (
  record: RunRecord,
  events: readonly RunEvent[],
  { undo, host }: RecordParts,
  notHeld: string[]
): Promise<FileLine[]> {
  const { runId, cwd } = record
  const texts = await undo.texts(runId)
  for (const { path, before } of texts) if (before === undefined) notHeld.push(`${path} as it was before the run`)
  const changed = new Set(texts.map(({ path }) => path))
  const inputs = new Map(events.flatMap((event) => event.type === 'tool-input' ? [[event.toolCallId, event.input] as const] : []))
  const read = new Map<string, string>()
  for (const event of events) {
    if (event.type !== 'tool-output' || host.find(event.toolName)?.effects?.source !== 'file') continue
    const { path } = inputs.get(event.toolCallId) as { path?: unknown }
    if (typeof path !== 'string' || typeof event.output.digest !== 'string') continue
    read.set(await realPath(isAbsolute(path) ? path : join(cwd, path)), event.output.digest)
  }
  const files: FileLine[] = texts.map((each) => ({ type: 'file', ...each }))
  for (const [path, digest] of read) {
    if (changed.has(path)) continue
    const text = await textAt(path, digest)
    if (text === undefined) notHeld.push(`${path}, which was read and is another now, or no text of at most 256 KiB`)
    else files.push({ type: 'file', path, before: text, after: text })
  }
  return files
}

const realPath = (path: string) => realpath(path).catch(() => path)

async function textAt (path: string, digest: string): Promise<string | undefined> {
  try {
    if ((await stat(path)).size > MOST_TEXT) return undefined
    const bytes = await readFile(path)
    return !contentDigest(bytes).startsWith(`sha256:${digest}`) || bytes.includes(0) ? undefined : bytes.toString('utf8')
  } catch {
    return undefined
  }
}

function whyNotReplayed ({ status, options }: RunRecord, events: readonly RunEvent[], asked: Line): string | undefined {
  const failure = events.findLast((event) => event.type === 'error')
  if (asked.type === 'request' && !asked.messages.some(({ role }) => role === 'user')) {
    return 'The request of the run is not stored any more.'
  }
  if (events.find(({ type }) => type !== 'start' && type !== 'steer')?.type === 'message') {
    return 'The run went on where another one had stopped. Record that one, or ask again in one run.'
  }
  if (status === 'failed' && failure?.code === 'ERR_BUDGET' && options?.budget?.tokens === undefined) {
    return 'The run ended because of its budget of time or money, which a replay does not use.'
  }
  if (status === 'failed' && failure?.code === 'ERR_TIMEOUT') return 'The run ended because of its time, which a replay does not take.'
  return undefined
}

/** Returns the folders of the run, and the description of the computer, with the names of their placeholders. */
async function foldersOf (
  { cwd }: RunRecord,
  { machine, workspace, config }: RecordParts
): Promise<Array<readonly [path: string, name: string]>> {
  const home = homedir()
  return [
    ...[[cwd, 'cwd'], [workspace() || cwd, 'workspace'], [home, 'home'], [machine, 'machine']] as const,
    ...[[await realPath(cwd), 'cwd'], [await realPath(workspace() || cwd), 'workspace'], [await realPath(home), 'home']] as const,
    ...(config().roots ?? []).map((root, at) => [root, `root-${at + 1}`] as const)
  ]
}
