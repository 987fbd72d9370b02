import { inputDigest } from '../lib/canonical-json.ts'
import type { ApprovalPreview } from '../../schemas/approvals.ts'
import type { RunOptions } from '../../schemas/run-options.ts'
import { boundTo, type Correction, shownFolder, type ToolItem } from '../contracts/approval-record.ts'
import type { PathChange } from '../../schemas/undo.ts'
import type { ChangedPath, ShownPlace, TriedOut } from '../contracts/tool.ts'
import { folderGone, isNothing, type ToolHost } from '../tools/index.ts'
import { InputRefused } from './approval-errors.ts'
import type { Ledger } from './ledger.ts'

interface PreviewParts {
  ledger: Pick<Ledger, 'find'>
  host: ToolHost
  /** Returns the host with the tools that a run with these options has. */
  withRunTools: (host: ToolHost, options: RunOptions | undefined) => ToolHost
  runs: { find(runId: string): Promise<{ cwd: string, options?: RunOptions } | undefined> }
}

/** Returns what a call would do to each path that it changes. `shown` is the present state of these paths. */
function previewedChanges (places: readonly ChangedPath[], shown: readonly ShownPlace[], diff: string | undefined): PathChange[] {
  const stateOf = (path: string) => shown.find((place) => place.path === path)?.state ?? ''
  const whatAt = (path: string): PathChange['what'] => (['file', 'folder', 'link', 'other'] as const).find((what) =>
    stateOf(path).startsWith(what))
  const removed = places.filter(({ isRemoved }) => isRemoved)
  const [from] = removed
  if (removed.length === 1 && places.length === 2) {
    const { path } = places.find((place) => place !== from)!
    const what = whatAt(from.path)
    return [{ path, kind: 'moved', from: from.path, ...what && { what }, ...!isNothing(stateOf(path)) && { replaces: true } }]
  }
  return places.map(({ path, withContents, isRemoved }) => {
    const kind = isRemoved ? 'deleted' : isNothing(stateOf(path)) ? 'created' : 'changed'
    // A path that the call creates is a file.
    const what = kind === 'created' ? 'file' as const : whatAt(path)
    return { path, kind, ...what && { what }, ...withContents && what === 'folder' && { withContents }, ...diff !== undefined && { diff } }
  })
}

export type CallPreviews = ReturnType<typeof createCallPreviews>

/**
 * Previews what the calls of approvals would change, given the files as they are now. Also checks the inputs with which a person replaces a
 * model's input.
 */
export function createCallPreviews ({ ledger, host, withRunTools, runs }: PreviewParts) {
  const callOf = ({ toolName: name, input, correctedInput, ...item }: ToolItem, signal: AbortSignal) =>
    ({ name, input: correctedInput ?? input, cwd: item.cwd, folder: shownFolder(item), signal })

  /** Returns the tools and the working folder of the run that an approval belongs to. */
  async function runOf ({ runId, cwd }: ToolItem): Promise<{ tools: ToolHost, cwd: string }> {
    const run = await runs.find(runId)
    return { tools: withRunTools(host, run?.options), cwd: run?.cwd ?? cwd }
  }

  /**
   * Returns the contents that files would have after the earlier calls of the same step that have not run yet, by path; null for a removed
   * file.
   */
  async function aheadOf ({ behind = [] }: ToolItem, tools: ToolHost, signal: AbortSignal): Promise<Map<string, Uint8Array | null>> {
    const files = new Map<string, Uint8Array | null>()
    for (const id of behind) {
      const item = await ledger.find(id)
      if (item?.kind !== 'tool' || !(item.state === 'pending' || item.state === 'approved')) continue
      const seen = await tools.foresee(callOf(item, signal), files)
      for (const [path, content] of seen?.preview?.leaves ?? []) files.set(path, content)
    }
    return files
  }

  return {
    /** Returns what the call would change. If its tool would refuse the call, `refused` is the reason. */
    async preview (item: ToolItem, signal: AbortSignal): Promise<ApprovalPreview> {
      const { tools } = await runOf(item)
      const seen = await tools.foresee(callOf(item, signal), await aheadOf(item, tools, signal))
      if (seen === undefined) return { changes: [] }
      const { places, preview, shown, refused } = seen
      if (refused !== undefined) return { changes: [], refused }
      return { changes: previewedChanges(places, shown, preview?.diff), note: preview?.note, previewDigest: inputDigest(shown) }
    },

    /**
     * Runs the command of a call in a place whose changes are all discarded, and returns what the command did; undefined for other tools.
     * Rejects if the signal aborts.
     */
    async tryOut (item: ToolItem, signal: AbortSignal): Promise<TriedOut | undefined> {
      const { tools, cwd } = await runOf(item)
      return tools.tryOut({ ...callOf(item, signal), cwd })
    },

    /** Returns the fields of the approval that change if `given` replaces the model's input. Throws InputRefused (400). */
    async correct (item: ToolItem, given: unknown, signal: AbortSignal): Promise<Correction> {
      const { tools, cwd } = await runOf(item)
      const valid = tools.validate(item.toolName, given)
      if (!valid.ok) throw new InputRefused(valid.error)
      const folder = await tools.folders.of(item.toolName, valid.input, cwd)
      if (folder === undefined) throw new InputRefused(folderGone(cwd))
      const call = { name: item.toolName, input: valid.input, cwd, folder, signal }
      const seen = await tools.foresee(call, await aheadOf(item, tools, signal))
      if (seen?.refused !== undefined) throw new InputRefused(seen.refused)
      const boundary = await tools.boundary(call)
      if (boundary?.is === 'refused') throw new InputRefused(boundary.why)
      return { ...boundTo(folder), shown: seen?.shown ?? [], correctedInput: valid.input, ...(boundary && { boundary }) }
    }
  }
}
