import { isDeepStrictEqual } from 'node:util'
import type { FilesTrigger, Firing, FiringList, Trigger, TriggerState } from '../../../schemas/triggers.ts'
import { firingKey, firingsPrefix, isDamage, type Op, triggerCuesPrefix, triggerSeenKey, unlessDamaged } from '../../store/index.ts'
import { createFolderWatches } from '../../workspace/index.ts'
import type { Queue } from '../runner/queue.ts'
import type { RunDeps } from '../task-deps.ts'
import { isGone } from '../task-errors.ts'
import type { StoredTask } from '../task-records.ts'
import { attributeChanges, changesBetween, type Seen, withClosed } from './file-changes.ts'
import type { Cue } from './cues.ts'
import { fire, type FilesFound, type Found } from './fire.ts'
import { lookAtFolder, type LookPace, stateText } from './look-at-folder.ts'

/**
 * A burst of changes is over when nothing has changed for SETTLE_MS. LONGEST_BURST_MS after its first change,
 * the folder is read in any case. Both in milliseconds.
 */
const SETTLE_MS = 1_000
const LONGEST_BURST_MS = 10_000
/** The shortest time between two firings of a task (moments at which its triggers are found to apply); milliseconds. */
const APART_MS = 60_000
/**
 * The time between two looks at a folder that is watched, and at a folder that cannot be watched completely or
 * does not exist; milliseconds.
 */
const LOOK_MS = 300_000
const LOOK_OFTEN_MS = 60_000
/** The longest sleep of the engine, so that a change of the system clock is noticed; milliseconds. */
const CHECK_MS = 10_000
/** The longest sleep of the engine while no task has a trigger, in milliseconds. A new trigger ends the sleep. */
const IDLE_CHECK_MS = 3_600_000
/** The most file triggers that are watched, for all tasks together. */
const MOST_TRIGGERS = 100
/** The most runs that are remembered as recent. */
const MOST_RECENT = 1_000

/** The watched folder of one trigger. */
interface FolderView {
  trigger: FilesTrigger
  state: Pick<TriggerState, 'state' | 'files' | 'lookedAt'>
  watches: ReturnType<ReturnType<typeof createFolderWatches>['open']>
  pace: LookPace
}

/** The result of a look at a folder; see `lookAt`. */
interface Look {
  state: FolderView['state']
  write?: Op
  found?: FilesFound
  nextMs: number
}

/** A task whose triggers are watched. */
interface View {
  task: Pick<StoredTask, 'triggers' | 'cwd' | 'firing'>
  /** The folders of its triggers, by the key under which the seen files are stored. */
  folders: Map<string, FolderView>
  /** When the engine next looks at the task; milliseconds since the Unix epoch. */
  at: number
  /** When the first change of the present burst came; milliseconds since the Unix epoch. */
  burstAt?: number
  /** True while a run of the task has not ended. */
  isHeld: boolean
  /** A look at the task is under way. */
  isLooking?: true
}

/**
 * Creates the engine that watches the triggers of started tasks and begins their runs. The files that a trigger
 * has seen are stored in the same transaction as its firing, and the end of a run in the same transaction as its
 * cues. So changes that were not handled before a crash are found again, exactly once.
 */
export function createTriggerEngine ({ deps, queue }: { deps: RunDeps, queue: Pick<Queue, 'push'> }) {
  const { repository, store, clock, log } = deps
  const watches = createFolderWatches()
  const views = new Map<string, View>()
  const recent = new Map<string, number>()
  let wake = new AbortController()

  const seenKey = (taskId: string, { path, glob }: FilesTrigger) => triggerSeenKey(taskId, store.digest(JSON.stringify([path, glob])))

  function lookBy (view: View, at: number): void {
    view.at = at
    wake.abort()
  }

  function changed (view: View): void {
    const now = clock.now()
    view.burstAt ??= now
    const at = Math.min(now + SETTLE_MS, view.burstAt + LONGEST_BURST_MS)
    if (view.isHeld || view.at === at) return
    // A postponed look needs no wake-up, because the engine wakes up before it anyway.
    if (at < view.at) lookBy(view, at)
    else if (view.at <= view.burstAt + LONGEST_BURST_MS) view.at = at
  }

  function close (taskId: string): void {
    for (const { watches } of views.get(taskId)?.folders.values() ?? []) watches.close()
    views.delete(taskId)
  }

  /** Adjusts the watched folders to the present triggers of the task. Watches nothing for a task that cannot run without a person. */
  function sync (task: StoredTask): void {
    if (!isWatched(task)) return close(task.id)
    const known = views.get(task.id)
    const view: View = known ?? { task, folders: new Map(), at: 0, isHeld: false }
    const isSame = known !== undefined && isDeepStrictEqual(partsOf(known.task), partsOf(task))
    view.task = task
    views.set(task.id, view)
    if (!isSame) {
      const files = (task.triggers ?? []).filter((each) => each.type === 'files')
      const wanted = new Map(files.map((each) => [seenKey(task.id, each), each]))
      for (const [key, { watches }] of view.folders) {
        if (wanted.has(key)) continue
        watches.close()
        view.folders.delete(key)
      }
      for (const [key, trigger] of wanted) {
        if (view.folders.has(key)) continue
        view.folders.set(key, { trigger, state: { state: 'starting' }, watches: watches.open(() => changed(view)), pace: {} })
      }
    }
    const isHeld = isBusy(task)
    if (view.isHeld && !isHeld) lookBy(view, clock.now() + SETTLE_MS)
    else if (!isSame) lookBy(view, clock.now())
    view.isHeld = isHeld
  }

  repository.onStored((task, { runs, cued }) => {
    for (const { runId } of runs) recent.set(runId, clock.now())
    for (const [runId] of recent) {
      if (recent.size <= MOST_RECENT) break
      recent.delete(runId)
    }
    if (task.triggers !== undefined || views.has(task.id)) sync(task)
    for (const taskId of cued) {
      const view = views.get(taskId)
      if (view !== undefined && !view.isHeld) lookBy(view, clock.now())
    }
  })

  /** Whether the file trigger with this key is among the first MOST_TRIGGERS, which are watched. */
  function isAdmitted (key: string): boolean {
    let before = 0
    for (const { folders } of views.values()) {
      for (const each of folders.keys()) {
        if (each === key) return before < MOST_TRIGGERS
        before++
      }
    }
    return false
  }

  /**
   * Looks at the folder of one trigger. In the result, `write` stores the seen files, `found` holds the changes for
   * which the trigger can fire, `state` is valid once `write` is stored, and `nextMs` is the time until the next look.
   */
  async function lookAt (
    task: StoredTask,
    key: string,
    folder: FolderView,
    way: { slow: () => void, signal: AbortSignal }
  ): Promise<Look> {
    const now = clock.now()
    const { trigger, watches, state: known, pace } = folder
    const { lookedAt } = known
    const looked = isAdmitted(key) ? await lookAtFolder(trigger, task.cwd, deps, { pace, ...way }) : { is: 'too_many' as const }
    if (looked.is !== 'watching') {
      watches.close()
      return { state: { lookedAt, state: looked.is }, nextMs: LOOK_OFTEN_MS }
    }
    // The task was paused, changed or deleted during the look, so this folder is no longer watched.
    if (views.get(task.id)?.folders.get(key) !== folder) return { state: known, nextMs: SETTLE_MS }
    const { root, files, folders, hasMoreFolders, closed } = looked
    const { isWhole, hasNew } = watches.set(root, folders)
    const state = { state: 'watching' as const, files: files.length, lookedAt: now }
    const look: Look = { state, nextMs: hasNew ? SETTLE_MS : isWhole && !hasMoreFolders ? LOOK_MS : LOOK_OFTEN_MS }
    const seen = await unlessDamaged(store.get<Seen>(key))
    const since = task.firing?.since ?? 0
    const rested = seen !== undefined && seen.since !== since
    const next: Seen = { since, at: now, folder: root, files: withClosed(files, seen?.files ?? [], closed) }
    const write: Op = { type: 'put', key, value: next }
    if (seen === undefined || seen.folder !== root || (rested && !task.firing?.rested)) return { ...look, write }
    const differences = changesBetween(seen.files, files, closed)
    if (differences.length === 0) return rested ? { ...look, write } : look
    const { changes, causes } = await attributeChanges(
      { task, folder: root, changes: differences, since: lookedAt ?? seen.at, recent },
      deps
    )
    if (changes.length === 0) return { ...look, write }
    const away = lookedAt === undefined && !rested
    return { ...look, write, found: { type: 'files', trigger, folder: root, changes, causes, away, rested } }
  }

  async function cuesOf ({ id, firing }: StoredTask): Promise<{ found: Found[], dropped: Op[] }> {
    const cues: Cue[] = []
    const dropped: Op[] = []
    const since = firing?.since ?? 0
    const damaged = (key: string) => void dropped.push({ type: 'del', key })
    for await (const [key, cue] of store.list<Cue>(triggerCuesPrefix(id), { damaged })) {
      if (cue.at < since && !firing?.rested) dropped.push({ type: 'del', key })
      else cues.push(cue)
    }
    const found = (among: Cue[], rested: boolean): Found[] =>
      among.length === 0 ? [] : [{ type: 'task', cues: among, causes: [...new Set(among.flatMap(({ causes }) => causes))], rested }]
    const isOld = ({ at }: Cue) => at < since
    const isLoop = ({ causes }: Cue) => causes.includes(id)
    const fresh = cues.filter((cue) => !isOld(cue))
    return {
      found: [
        ...found(cues.filter(isOld), true),
        ...found(fresh.filter(isLoop), false),
        ...found(fresh.filter((cue) => !isLoop(cue)), false)
      ],
      dropped
    }
  }

  /**
   * Looks at all triggers of a task, and fires those that found something. Calls `slow` if that takes long, so
   * that looks at other tasks need not wait.
   */
  async function look (taskId: string, view: View, way: { slow: () => void, signal: AbortSignal }): Promise<void> {
    const task = await repository.get(taskId)
    sync(task)
    if (views.get(taskId) !== view) return
    const now = clock.now()
    if (view.isHeld) {
      view.at = Infinity
      return
    }
    const { lastAt = -Infinity } = task.firing ?? {}
    const isKnown = [...view.folders.values()].every(({ state }) => state.lookedAt !== undefined)
    const isSoon = lastAt <= now && now < lastAt + APART_MS
    if (isKnown && isSoon) {
      view.at = lastAt + APART_MS
      return
    }
    const { burstAt = now } = view
    delete view.burstAt
    view.at = Infinity
    const writes: Op[] = []
    const found: Found[] = []
    const states = new Map<FolderView, FolderView['state']>()
    for (const [key, folder] of view.folders) {
      const look = await lookAt(task, key, folder, way)
      view.at = Math.min(view.at, clock.now() + look.nextMs)
      if (look.found?.rested === false && isSoon) {
        view.at = Math.min(view.at, lastAt + APART_MS)
        continue
      }
      states.set(folder, look.state)
      if (look.write !== undefined) writes.push(look.write)
      if (look.found !== undefined) found.push(look.found)
    }
    view.at = Math.min(view.at, clock.now() + LOOK_MS)
    // Reports of changes during the look arrive by the next turn of the event loop.
    await new Promise(setImmediate)
    if (clock.now() < burstAt + LONGEST_BURST_MS && found.some((each) => isUnderWay(each, view, now))) {
      view.burstAt = burstAt
      view.at = Math.min(view.at, now + SETTLE_MS)
      return
    }
    if (isSoon) view.at = Math.min(view.at, lastAt + APART_MS)
    const cues = isSoon ? { found: [], dropped: [] } : await cuesOf(task)
    found.push(...cues.found)
    writes.push(...cues.dropped)
    const isDone = await keep(task, found, writes)
    if (isDone) for (const [folder, state] of states) folder.state = state
    else if (views.get(taskId) === view && !view.isHeld) lookBy(view, clock.now())
  }

  /**
   * Stores the seen files, and fires the triggers. Returns false if the task has changed since the look, so that
   * the look has to be repeated.
   */
  async function keep (task: StoredTask, found: Found[], writes: Op[]): Promise<boolean> {
    const isCurrent = (current: StoredTask) => !isBusy(current) && isWatched(current) && isDeepStrictEqual(partsOf(current), partsOf(task))
    let isDone = false
    if (found.length > 0) {
      await repository.change<undefined>(task.id, async (current) => {
        if (!isCurrent(current)) return undefined
        isDone = true
        return fire(current, found, writes, { deps, begin: queue.push })
      })
      return isDone
    }
    await repository.locked(task.id, async () => {
      isDone = isCurrent(await repository.get(task.id))
      if (isDone && writes.length > 0) await store.transact(writes)
    })
    return isDone
  }

  function stateOf (task: StoredTask, trigger: Trigger, isThere: boolean): TriggerState {
    const view = views.get(task.id)
    if (trigger.type === 'task') {
      const state = !isThere ? 'gone' : view === undefined ? 'resting' : 'watching'
      return { trigger, state, ...stateText(state) }
    }
    const known = view?.folders.get(seenKey(task.id, trigger))?.state ?? { state: 'resting' as const }
    return { trigger, ...known, ...stateText(known.state) }
  }

  return {
    /** Stops watching for a deleted task. */
    forget: close,

    /** Returns the triggers of a task, and a page of their firings, newest first. Throws TaskNotFound (404). */
    async firings (taskId: string, { limit, cursor }: { limit: number, cursor?: string }): Promise<FiringList> {
      const task = await repository.get(taskId)
      const isThere = async (trigger: Trigger) =>
        trigger.type === 'files' || await repository.find(trigger.taskId, () => {}) !== undefined
      const triggers = await Promise.all((task.triggers ?? []).map(async (each) => stateOf(task, each, await isThere(each))))
      const firings: Firing[] = []
      const options = { reverse: true, ...cursor !== undefined && { after: firingKey(taskId, cursor) }, damaged () {} }
      for await (const [, firing] of store.list<Firing>(firingsPrefix(taskId), options)) {
        if (firings.length === limit) return { triggers, firings, nextCursor: firings.at(-1)!.id }
        firings.push(firing)
      }
      return { triggers, firings }
    },

    /** Watches the triggers of all started tasks until the signal aborts. */
    async run (signal: AbortSignal): Promise<void> {
      for (const taskId of (await repository.index.load()).notFinished()) {
        const task = await repository.find(taskId, () => {})
        if (task?.triggers !== undefined) sync(task)
        for (const run of [task?.liveRun, task?.reviewRun]) if (run !== undefined) recent.set(run.runId, clock.now())
      }
      /** Looks under way. Slow ones continue while looks at other tasks begin. */
      const slowLooks = new Set<Promise<void>>()
      while (!signal.aborted) {
        const due = [...views].filter(([, { at, isLooking }]) => at <= clock.now() && !isLooking)
        for (const [taskId, view] of due) {
          if (signal.aborted) break
          const isSlow = Promise.withResolvers<void>()
          view.isLooking = true
          const looked = look(taskId, view, { slow: isSlow.resolve, signal }).catch((error) => {
            if (signal.aborted) return
            if (isGone(error) || isDamage(error)) return close(taskId)
            log.error({ err: error, taskId }, 'the triggers of a task could not be looked at')
            view.at = clock.now() + LOOK_OFTEN_MS
          }).finally(() => {
            delete view.isLooking
            if (slowLooks.delete(looked)) wake.abort()
          })
          slowLooks.add(looked)
          await Promise.race([looked, isSlow.promise])
        }
        wake = new AbortController()
        const next = [...views.values()].filter(({ isLooking }) => !isLooking).map(({ at }) => at)
        const wait = Math.min(...next, clock.now() + (views.size === 0 ? IDLE_CHECK_MS : CHECK_MS)) - clock.now()
        if (wait > 0 && !signal.aborted) await clock.sleep(wait, AbortSignal.any([signal, wake.signal])).catch(() => {})
      }
      await Promise.all(slowLooks)
      for (const taskId of [...views.keys()]) close(taskId)
    }
  }
}

/** True if the burst of changes might still continue. `now`: when the folder was read, milliseconds since the Unix epoch. */
const isUnderWay = (found: Found, { burstAt }: View, now: number): boolean =>
  found.type === 'files' && !found.rested &&
  (burstAt !== undefined || found.changes.some(({ modifiedAt = 0 }) => modifiedAt > now - SETTLE_MS && modifiedAt <= now + SETTLE_MS))

/** Returns the parts of a task on which the result of a look depends. */
const partsOf = ({ triggers = [], cwd, firing }: Pick<StoredTask, 'triggers' | 'cwd' | 'firing'>) =>
  ({ triggers, cwd, since: firing?.since })

/** True if the triggers of the task are active, even while a run executes. */
const isWatched = ({ triggers = [], status, returnTo = 'scheduled' }: StoredTask): boolean =>
  triggers.length > 0 && returnTo === 'scheduled' && ['scheduled', 'running', 'pending_approval'].includes(status)

/** True if a run of the task has not ended. Changes then wait for the end of that run. */
const isBusy = ({ status, liveRun }: StoredTask): boolean => status !== 'scheduled' || liveRun !== undefined
