import { useQuery } from '@tanstack/react-query'
import { Clock3, CornerLeftUp, Folder as FolderIcon, FolderSymlink, HardDrive, House, Star, type LucideIcon } from 'lucide-react'
import { useEffect, useId, useState, type KeyboardEvent } from 'react'
import { listFolderPlaces } from '../../../client/generated/index.ts'
import type { Folder } from '../../../client/generated/types.gen.ts'
import { lastPart } from '../../lib/last-part.ts'
import { keys } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { Button } from '../button.tsx'
import { Failed } from '../failed.tsx'
import { IconButton } from '../icon-button.tsx'
import { VisibleText } from '../visible-text.tsx'
import { isPath, pathIn, useFolder } from './use-folder.ts'

/** The number of entries that PageUp and PageDown move by. */
const PAGE = 10
/** The maximum number of characters of a name; the style usually cuts the line earlier. */
const SHOWN = 200

interface Props {
  start: string
  cwd?: string
  onClose: () => void
  onChosen: (path: string) => void
}

/** Browses the folders of the computer on which the service runs, and chooses one. */
export default function FolderWalk ({ start, cwd, onClose, onChosen }: Props) {
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const list = useId()
  const { folder, error, isReading, hidden, setHidden, go, prefix } = useFolder({ start, cwd, typed })
  const entries = isPath(typed) ? [] : folder?.folders ?? []
  const current = Math.min(at, entries.length - 1)
  useEffect(() => {
    document.getElementById(`${list} ${current}`)?.scrollIntoView({ block: 'nearest' })
  }, [list, current])

  const walk = async (path: string) => {
    if (!await go(path)) return
    setTyped('')
    setAt(0)
  }
  const up = folder?.parts.at(-2)?.path
  const enter = () => {
    if (isPath(typed)) void walk(pathIn(folder?.path ?? '', typed))
    else if (entries[current] !== undefined && !isReading) open(entries[current])
  }
  const open = ({ path, problem }: Folder['folders'][number]) => {
    if (problem === undefined || problem === 'unreadable') void walk(path)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    const isUp = (event.key === 'ArrowUp' && event.altKey) || (event.key === 'Backspace' && typed === '')
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE }[event.key]
    if (isUp) {
      event.preventDefault()
      if (up !== undefined && !event.repeat) void walk(up)
    } else if (step !== undefined && entries.length > 0) {
      event.preventDefault()
      setAt(Math.max(0, Math.min(entries.length - 1, current + step)))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      if (!event.repeat) enter()
    }
  }
  return (
    <>
      <Places here={folder?.path} onGo={(path) => void walk(path)} />
      <Way folder={folder} onGo={(path) => void walk(path)} />
      <input
        type='text' role='combobox' aria-expanded aria-controls={list} aria-autocomplete='list' maxLength={4_096} spellCheck={false}
        aria-activedescendant={entries.length > 0 ? `${list} ${current}` : undefined} aria-label={say('folders.type')}
        placeholder={say('folders.typeHelp')} value={typed} autoFocus
        onChange={({ target }) => {
          setTyped(target.value)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
      />
      {error !== undefined && error !== null && <Failed error={error} />}
      {folder?.problem !== undefined && <p className='note note-warn' role='alert'>{say(`folders.problem.${folder.problem}`)}</p>}
      <ul id={list} role='listbox' aria-label={say('folders.list')} aria-busy={isReading} className='folder-list'>
        {entries.map((entry, n) => (
          <Row
            key={entry.path} id={`${list} ${n}`} entry={entry} isCurrent={n === current} onPoint={() => setAt(n)}
            onOpen={() => open(entry)}
          />
        ))}
      </ul>
      <p className='quiet' role='status'>{folder !== undefined && summary(folder, { prefix, isPath: isPath(typed), hidden })}</p>
      <label className='tick'>
        <input type='checkbox' checked={hidden} onChange={({ target }) => setHidden(target.checked)} />
        <span>{say('folders.hidden')}</span>
      </label>
      <div className='actions'>
        <Button
          kind='primary' disabled={folder === undefined || folder.problem !== undefined}
          onClick={() => { if (folder !== undefined) onChosen(folder.path) }}
        >
          {say('folders.use', { name: folder === undefined ? '' : lastPart(folder.path).slice(0, 40) })}
        </Button>
        <Button onClick={onClose}>{say('app.cancel')}</Button>
      </div>
    </>
  )
}

/** Returns a sentence about the number of entries, and about entries that are left out. */
function summary (
  { folders, leftOut, hidden, isCut, problem }: Folder,
  { prefix, isPath, hidden: isShown }: { prefix: string, isPath: boolean, hidden: boolean }
): string {
  if (isPath) return say('folders.enterPath')
  if (problem !== undefined && folders.length === 0) return ''
  const shown = folders.length > 0
    ? say('folders.count', { count: folders.length })
    : prefix === '' ? say('folders.none') : say('folders.noneFit', { text: prefix })
  return [
    shown,
    leftOut > 0 && say('folders.leftOut', { count: leftOut }),
    isCut && say('folders.cut'),
    !isShown && hidden > 0 && say('folders.hiddenCount', { count: hidden })
  ].filter((sentence) => typeof sentence === 'string').join(' ')
}

interface RowProps {
  id: string
  entry: Folder['folders'][number]
  isCurrent: boolean
  onPoint: () => void
  onOpen: () => void
}

function Row ({ id, entry: { name, link, problem }, isCurrent, onPoint, onOpen }: RowProps) {
  const Icon = link === undefined ? FolderIcon : FolderSymlink
  return (
    <li
      id={id} role='option' aria-selected={isCurrent} aria-disabled={problem !== undefined || undefined} onPointerMove={onPoint}
      onClick={onOpen}
    >
      <Icon />
      <span className='folder-name'><VisibleText text={name.slice(0, SHOWN)} limit={Infinity} /></span>
      {link !== undefined && <span className='quiet folder-link'>→ <VisibleText text={link.slice(0, SHOWN)} limit={Infinity} /></span>}
      {problem !== undefined && <span className='quiet'>{say(`folders.mark.${problem}`)}</span>}
    </li>
  )
}

/** The path of the current folder as links to its parent folders, and a button to the parent. */
function Way ({ folder, onGo }: { folder: Folder | undefined, onGo: (path: string) => void }) {
  const parts = folder?.parts ?? []
  const up = parts.at(-2)
  return (
    <nav className='folder-way' aria-label={say('folders.way')}>
      <IconButton
        icon={CornerLeftUp} label={say('folders.up')} disabled={up === undefined} onClick={() => up !== undefined && onGo(up.path)}
      />
      <ol>
        {parts.map(({ name, path }, n) => (
          <li key={path}>
            <button type='button' className='folder-part' aria-current={n === parts.length - 1 || undefined} onClick={() => onGo(path)}>
              <VisibleText text={name.slice(0, SHOWN)} limit={Infinity} />
            </button>
          </li>
        ))}
      </ol>
    </nav>
  )
}

/** Starting points: the home, the usual folder, drives, and recently used folders. */
function Places ({ here, onGo }: { here: string | undefined, onGo: (path: string) => void }) {
  const { data } = useQuery({
    queryKey: [...keys.folders(), 'places'],
    queryFn: ({ signal }) => listFolderPlaces({ ...asked(), signal }).then(body),
    staleTime: 0
  })
  if (data === undefined) return <nav className='folder-places' aria-label={say('folders.places')} />
  const { home, workspace, roots, drives, recent } = data
  const fixed: Array<[icon: LucideIcon, path: string, text: string]> = [
    [House, home, say('folders.home')],
    [Star, workspace, say('folders.usual')],
    ...drives.map((drive): [LucideIcon, string, string] => [HardDrive, drive, drive])
  ]
  const known = new Set(fixed.map(([, path]) => path))
  const used = [...new Set([...recent, ...roots])].filter((path) => !known.has(path))
  return (
    <nav className='folder-places' aria-label={say('folders.places')}>
      {[...fixed, ...used.map((path): [LucideIcon, string, string] => [Clock3, path, lastPart(path)])].map(([Icon, path, text]) => (
        <Button key={path} kind='quiet' title={path} aria-current={path === here || undefined} onClick={() => onGo(path)}>
          <Icon /><span><VisibleText text={text.slice(0, 40)} limit={Infinity} /></span>
        </Button>
      ))}
    </nav>
  )
}
