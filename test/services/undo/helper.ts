import { existsSync, mkdirSync, readdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Config } from '../../../schemas/config.ts'
import { createUndo } from '../../../services/undo/undo.ts'
import type { CallReport } from '../../../services/tools/kept-call.ts'
import { newId } from '../../../services/lib/ids.ts'
import { systemClock, type Clock } from '../../../services/lib/clock.ts'
import { openStore } from '../../../services/store/open.ts'
import { createTransform } from '../../../services/tools/transform/transform.ts'
import { createPathPolicy } from '../../../services/tools/path-policy.ts'
import type { ChangedPath } from '../../../services/contracts/tool.ts'
import { atEnd } from '../../harness/at-end.ts'

interface Options {
  settings?: Config['undo']
  clock?: Clock
  dir?: string
}

/** An undo service over a store of its own, and a folder `work` whose files a test changes. */
export async function openUndo (t: Test, { settings, clock = systemClock, dir = t.testdir({}) }: Options = {}) {
  const [home, work] = ['home', 'work'].map((name) => {
    mkdirSync(join(dir, name), { recursive: true })
    return realpathSync(join(dir, name))
  })
  const store = await openStore({ dir: home, clock })
  atEnd(t, () => store.close())
  const live = new Set<string>()
  const roots: string[] = []
  const transform = createTransform({ clock: systemClock })
  atEnd(t, () => transform.close())
  const undo = createUndo({
    store,
    clock,
    home,
    paths: createPathPolicy({ workspace: work, roots, forbidden: home }),
    settings: () => settings,
    isLive: async (runId) => live.has(runId) || undefined,
    isRehearsal: async () => false,
    takenBack: async () => {},
    copyOf: async () => undefined,
    log: { warn: (details) => t.fail(JSON.stringify(details)) },
    transform
  })
  const at = (path: string) => join(work, path)
  const keep = (runId: string, places: ChangedPath[], owner = 'owner') =>
    undo.keep({ runId, owner, toolCallId: newId(), toolName: 'change', cwd: work, places, signal: new AbortController().signal })
  return {
    dir,
    home,
    work,
    store,
    undo,
    live,
    /** Further folders that tools may use. */
    roots,
    at,
    keep,
    /** The files with copies. */
    files: () => existsSync(join(home, 'undo')) ? readdirSync(join(home, 'undo')) : [],
    /** Makes a change as a tool does it, and returns its run. A tool that reports nothing is one that a crash cut off. */
    async change (
      paths: Array<string | ChangedPath>,
      effect: () => unknown,
      { runId = newId(), ...report }: CallReport & { runId?: string } = {}
    ) {
      const kept = await keep(runId, paths.map((each) => typeof each === 'string' ? { path: at(each) } : { ...each, path: at(each.path) }))
      await store.transact(kept.ops)
      await effect()
      await store.transact((await kept.finish(Object.keys(report).length === 0 ? undefined : report)).ops)
      return runId
    },
    changes: async (runId: string) => (await undo.changes(runId, { limit: 500 })).changes
  }
}
