import type { Clock } from '../lib/clock.ts'
import type { FileChange } from '../contracts/tool.ts'
import { newId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { commandFileKey, undoEntryKey, undoOpenKey, undoOwnerKey, type Op, type Store } from '../store/index.ts'
import type { Kept } from './keep-call.ts'
import type { RunningCommands } from './running-commands.ts'
import type { KeepCall } from '../tools/index.ts'
import { type Compared, describeLeftOut, type Item, type Snapshots, wasInGit } from '../workspace/index.ts'
import type { Entry } from './undo-entry.ts'

/** Says that the changes of a command are those of others too. */
export const LATE = 'The service ended before it knew what the command changed, and compared the folder when it started again: what ' +
  'others changed there meanwhile counts as the work of the command.'

interface TreeParts {
  store: Store
  clock: Clock
  snapshots: Snapshots
  commands: RunningCommands
  log: Pick<Log, 'warn'>
}

interface Comparison {
  /** Paths that other calls of the service changed meanwhile. */
  others?: ReadonlySet<string>
  /** The folder was compared only after a new start of the service. */
  isLate?: boolean
  /** The command went on after its call. */
  hasStayed?: boolean
}

/** What the record of a command holds when its changes are known: nothing when it changed nothing and nothing is unknown. */
export function settledTree (
  begun: Entry,
  { differences, units, contents, strange, unseen }: Compared,
  { others = new Set(), isLate = false, hasStayed = false }: Comparison = {}
): Entry | undefined {
  const { tree, ...entry } = begun
  const isShared = isLate || hasStayed
  const items = differences.filter(({ path }) => !others.has(path)).map((each): Item => ({ ...each, ...(isShared && { isShared }) }))
  const reason = [
    begun.uncovered?.reason,
    strange.length > 0 && `What was moved into the folder stays there: ${strange.slice(0, 5).join(', ')}.`,
    unseen.length > 0 && `What it changed in these folders is not known, because they cannot be read any more: ${unseen.join(', ')}.`,
    isLate && items.length > 0 && LATE
  ].filter((sentence) => typeof sentence === 'string' && sentence !== '').join(' ')
  if (items.length === 0 && reason === '') return undefined
  const uncovered = reason === '' ? undefined : { target: tree?.target, ...begun.uncovered, reason }
  return { ...entry, items, units, contents, ended: true, uncovered }
}

/**
 * Keeps what is in the folder of a command, whose changes nobody knows beforehand. Throws CopiesUnavailable when the disk is full; then
 * the command must not start.
 */
export async function keepTree (
  { runId, owner, toolCallId, toolName, uncovered: named, signal, command }: KeepCall & { command: NonNullable<KeepCall['command']> },
  { store, clock, snapshots, commands, log }: TreeParts
): Promise<Kept> {
  const id = newId()
  const at = clock.now()
  const { folder, reach } = command
  const known = await snapshots.take(command, signal)
  const reason = [reach, ...'why' in known ? [known.why] : [describeLeftOut(known.leftOut), known.unknown]].filter(Boolean).join(' ')
  const uncovered = { target: named?.target, reason }
  const begun: Entry = { runId, owner, toolCallId, toolName, at, cwd: folder, roots: [], items: [], ...(reason !== '' && { uncovered }) }
  const owned: Op = { type: 'put', key: undoOwnerKey(owner, runId), value: { at } }
  const put = (value: Entry): Op => ({ type: 'put', key: undoEntryKey(runId, id), value })
  if ('why' in known) {
    return { id, items: [], ops: [owned, put({ ...begun, ended: true })], finish: async () => ({ ops: [] }), discard: async () => {} }
  }
  const { others, end } = commands.begin(folder)
  const release = () => {
    end()
    known.release()
  }
  const open = undoOpenKey(id)
  const running: Entry = { ...begun, tree: { folder, record: known.record, above: known.above, target: named?.target } }
  let hasStayed = false
  async function finishAfter (ended: Promise<void>): Promise<void> {
    hasStayed = true
    await ended
    const { ops } = await kept.finish()
    // Gone with its conversation meanwhile.
    const isGone = await store.get(undoEntryKey(runId, id)) === undefined
    if (ops.length > 0) await store.transact(isGone ? [{ type: 'del', key: open }] : ops)
  }

  const kept: Kept = {
    id,
    items: [],
    ops: [owned, put(running), { type: 'put', key: open, value: { runId } }],
    async finish () {
      try {
        const settled = settledTree(running, await snapshots.diff(known), { others, hasStayed })
        const last: Op = settled === undefined ? { type: 'del', key: undoEntryKey(runId, id) } : put(settled)
        end()
        commands.changed((settled?.items ?? []).map(({ path }) => path))
        const changes = changesIn(settled?.items ?? [])
        const isKnown = settled === undefined || changes.length > 0
        return { ops: [last, { type: 'del', key: open }, ...await contentsWritten(store, changes, at)], ...(isKnown && { changes }) }
      } catch (error) {
        // The entry stays open: what the command changed is compared once more at the next start.
        log.warn({ err: error }, 'what a command changed could not be compared')
        return { ops: [] }
      } finally {
        release()
      }
    },
    finishAfter (ended) {
      commands.stay(runId, finishAfter(ended).catch((error) => log.warn({ err: error }, 'what a command changed could not be stored')))
    },
    async discard () {
      release()
    }
  }
  return kept
}

/** Returns the operations that store what a command wrote into files, but for what git held before it. */
async function contentsWritten (store: Store, changes: readonly FileChange[], at: number): Promise<Op[]> {
  const ops = new Map<string, Op>()
  for (const { path, after } of changes) {
    if (after === null || ops.has(after) || await wasInGit(path, at)) continue
    ops.set(after, { type: 'put', key: commandFileKey(store.digest(after)), value: { at } })
  }
  return [...ops.values()]
}

const digestOf = (place: Item['after']): string | null => place?.kind === 'file' ? place.digest : null

/** The changes of files among the items. */
const changesIn = (items: readonly Item[]) =>
  items.filter(({ before, after }) => before?.kind === 'file' || after?.kind === 'file').map(({ path, before, after }) =>
    ({ path, before: digestOf(before), after: digestOf(after) })
  )
