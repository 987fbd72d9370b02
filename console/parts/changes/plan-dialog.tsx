import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { applyRun, undoRun, type PathChange, type UncoveredCall, type Undone } from '../../../client/generated/index.ts'
import { keys } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { useAnnounce } from '../announcer.tsx'
import { Button } from '../button.tsx'
import { Dialog } from '../dialog.tsx'
import { Failed } from '../failed.tsx'
import { Loaded } from '../loaded.tsx'
import { ChangeList } from './change-list.tsx'
import { ChangeRow, type ShownChange } from './change-row.tsx'

/** The maximum number of paths in one request. */
const MOST_PATHS = 20_000
/** The working folder with everything in it. */
const ALL = ['.']

/** The action on changes: undo them, or apply them from a copy to the folder. */
export type Verb = 'undo' | 'apply'

/** The result of an undo or an apply, or of its dry run. */
export interface Done {
  /** The id with which the result can be undone; absent if nothing was done. */
  undoId?: string
  done: string[]
  /** The planned changes of the paths; the service sends only a part of a long list. */
  planned?: PathChange[]
  skipped: Undone['skipped']
  notCovered: UncoveredCall[]
}

async function carryOut (verb: Verb, runId: string, request: { paths?: string[], dryRun?: boolean }): Promise<Done> {
  const how = { ...asked(), path: { runId }, body: request }
  if (verb === 'undo') {
    const { restored: done, ...rest } = await undoRun(how).then(body)
    return { done, ...rest }
  }
  const { applied: done, applyId: undoId, ...rest } = await applyRun(how).then(body)
  return { done, undoId, ...rest, notCovered: [] }
}

interface Props {
  verb: Verb
  runId: string
  /** The paths to restrict the action to, with everything below them; by default, all paths. */
  paths?: string[]
  onClose: () => void
  onDone: (done: Done) => void
}

/** Returns true if a path lies in a folder. */
const isBelow = (path: string, folder: string) => path.startsWith(folder) && /^[\\/]/.test(path.slice(folder.length))

/** Returns the skipped paths that are included only if the request names them. */
const sharedOf = (skipped: Done['skipped']): string[] =>
  skipped.filter(({ reason }) => reason === 'shared' || reason === 'opens').map(({ path }) => path)

/** Returns all paths of an undo, including those that are undone only by name. */
function withShared (done: string[], skipped: Done['skipped']): string[] {
  const all = [...done, ...sharedOf(skipped)]
  return all.length > MOST_PATHS ? ALL : all
}

/** Shows the current plan of an undo or an apply, path by path, and carries it out for the selected paths after a confirmation. */
export function PlanDialog ({ verb, runId, paths: named, onClose, onDone }: Props) {
  const queries = useQueryClient()
  const announce = useAnnounce()
  const [isOpen, setIsOpen] = useState(true)
  const [paths, setPaths] = useState(named)
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const plan = useQuery({
    queryKey: [...keys.changes(runId), 'dry-run', verb, ...paths ?? []],
    queryFn: () => carryOut(verb, runId, { paths, dryRun: true }),
    gcTime: 0
  })
  // A named path includes everything below it, so a folder with a deselected path in it must not be named.
  const chosen = (plan.data?.done ?? []).filter((path) => !left.has(path) && ![...left].some((other) => isBelow(other, path)))
  const work = useMutation({
    mutationFn: () => carryOut(verb, runId, { paths: left.size === 0 ? paths : chosen }),
    onSuccess (done) {
      announce(say(`changes.${verb}.done`, { count: done.done.length }))
      onDone(done)
      close()
      // Other runs may have changed the same files.
      void queries.invalidateQueries({ queryKey: ['changes'] })
    }
  })
  const close = () => {
    setIsOpen(false)
    onClose()
  }
  const tick = ({ path, from = path }: ShownChange, isTicked: boolean) => {
    const next = new Set(left)
    for (const each of plan.data?.done ?? []) {
      if (![path, from].some((named) => each === named || isBelow(each, named))) continue
      if (isTicked) next.delete(each)
      else next.add(each)
    }
    setLeft(next)
  }
  return (
    <Dialog title={say(`changes.${verb}.title`)} isOpen={isOpen} onClose={close}>
      <Loaded query={plan}>
        {({ done, planned = [], skipped, notCovered }) => (
          <>
            <p>{done.length > 0 ? say(`changes.${verb}.would`, { count: done.length }) : say(`changes.${verb}.nothing`)}</p>
            <ChangeList changes={rowsOf(done, planned)}>
              {(change) => (
                <ChangeRow
                  change={change}
                  tick={{ isTicked: !left.has(change.path), onTick: (isTicked) => tick(change, isTicked) }}
                />
              )}
            </ChangeList>
            {skipped.length > 0 && (
              <>
                <p>{say('run.wouldSkip', { count: skipped.length })}</p>
                <ChangeList changes={skipped}>
                  {(path) => <ChangeRow change={path} note={sayWhy(verb, path.reason)} />}
                </ChangeList>
              </>
            )}
            {notCovered.length > 0 && <p className='quiet'>{say('run.notCovered', { count: notCovered.length })}</p>}
            {work.isError && <Failed error={work.error} />}
            <div className='actions'>
              <Button onClick={close}>{say('app.cancel')}</Button>
              {sharedOf(skipped).length > 0 && (
                <Button onClick={() => setPaths(withShared(done, skipped))}>
                  {say(verb === 'apply' ? 'run.applyOpened' : 'run.undoShared')}
                </Button>
              )}
              {done.length > 0 && (
                <Button kind='primary' disabled={chosen.length === 0} isBusy={work.isPending} onClick={() => work.mutate()}>
                  {say(`changes.${verb}.now`, { count: chosen.length })}
                </Button>
              )}
            </div>
          </>
        )}
      </Loaded>
    </Dialog>
  )
}

/** Returns a row for each path, with its planned change if it is known. A move is one row. */
function rowsOf (done: readonly string[], planned: readonly PathChange[]): ShownChange[] {
  const shown = new Set(planned.flatMap(({ path, from = path }) => [path, from]))
  return [...planned, ...done.filter((path) => !shown.has(path)).map((path) => ({ path }))]
}

/** Returns the reason why a path is skipped. For an apply, `changed_since` and `gone` mean a change in the original folder. */
const sayWhy = (verb: Verb, reason: Done['skipped'][number]['reason']): string =>
  say(verb === 'apply' && (reason === 'changed_since' || reason === 'gone') ? 'changes.apply.meanwhile' : `run.why.${reason}`)
