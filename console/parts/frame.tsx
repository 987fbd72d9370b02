import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useCallback, useEffect, useLayoutEffect, useRef, useState, type ReactNode } from 'react'
import { Brain, Inbox, ListTodo, MessageSquare, Search, Settings } from 'lucide-react'
import { Link, useLocation } from 'wouter'
import { listApprovals } from '../../client/generated/index.ts'
import { useConnection } from '../lib/live/live-updates.tsx'
import { keys } from '../lib/queries.ts'
import { say } from '../lib/say.ts'
import { asked, body } from '../lib/service.ts'
import { hasCommandKey, useShortcuts } from '../lib/shortcuts.ts'
import { useAnnounce } from './announcer.tsx'
import { Loading } from './loading.tsx'
import { isFirstVisit } from './welcome/first-visit.ts'

const Welcome = lazy(() => import('./welcome/welcome.tsx'))
const Palette = lazy(() => import('./palette/palette.tsx'))
const KeysHelp = lazy(() => import('./palette/keys-help.tsx'))

const PAGES = [
  ['/', 'inbox.title', Inbox],
  ['/tasks', 'tasks.title', ListTodo],
  ['/chat', 'chat.title', MessageSquare],
  ['/memory', 'memory.title', Brain],
  ['/settings', 'settings.title', Settings]
] as const

/** The query of everything that waits for a person, in conversations and tasks. */
export const openApprovals = { queryKey: keys.approvals(), queryFn: () => listApprovals({ ...asked(), query: { limit: 500 } }).then(body) }

/** The page whose styles apply, by the first part of the path. A run also needs the styles of tasks. */
const STYLES: Record<string, string> = {
  '': 'inbox',
  tasks: 'tasks',
  runs: 'tasks run',
  chat: 'chat',
  memory: 'memory',
  settings: 'settings'
}

/** The navigation and the connection state around a page. On the page that a first visit opens, it also shows the welcome. */
export function Frame ({ children }: { children: ReactNode }) {
  const [path, navigate] = useLocation()
  const [over, setOver] = useState<'palette' | 'keys'>()
  const close = useCallback(() => setOver(undefined), [])
  const find = useCallback(() => setOver('palette'), [])
  const help = useCallback(() => setOver('keys'), [])
  const begin = useCallback(() => navigate('/chat'), [navigate])
  useShortcuts({ find, begin, keys: help })
  const [first, setFirst] = useState(() => isFirstVisit() && !path.startsWith('/settings') ? path : undefined)
  // A welcome that was answered does not appear again when the user returns to the first page.
  useEffect(() => {
    if (path !== first && !isFirstVisit()) setFirst(undefined)
  }, [path, first])
  const [isReady, setIsReady] = useState(first === undefined)
  const noteReady = useCallback(() => setIsReady(true), [])
  const styles = STYLES[path.split('/')[1]] ?? ''
  useLayoutEffect(() => {
    document.body.dataset.page = styles
  }, [styles])
  return (
    <div className='frame'>
      <a className='skip' href='#content'>{say('app.skip')}</a>
      <Navigation onFind={find} />
      <div className='frame-main'>
        <ConnectionNote />
        {path === first && <Suspense><Welcome onReady={noteReady} /></Suspense>}
        {/* The page appears together with the welcome, so that nothing on it moves. */}
        <main id='content' tabIndex={-1}>{isReady || path !== first ? children : <Loading />}</main>
      </div>
      <Suspense>
        {over === 'palette' && <Palette onClose={close} onKeys={help} />}
        {over === 'keys' && <KeysHelp onClose={close} />}
      </Suspense>
    </div>
  )
}

function Navigation ({ onFind }: { onFind: () => void }) {
  const [path] = useLocation()
  const { data } = useQuery(openApprovals)
  const waiting = data?.approvals.length ?? 0
  return (
    <nav className='navigation' aria-label={say('app.navigation')}>
      <p className='brand'>{say('app.name')}</p>
      <button type='button' className='navigation-find' aria-keyshortcuts='Control+K Meta+K' onClick={onFind}>
        <Search /><span className='navigation-text'>{say('palette.open')}</span>
        <kbd aria-hidden='true'>{hasCommandKey ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <ul>
        {PAGES.map(([to, text, Icon]) => {
          const isCurrent = to === '/' ? path === '/' : path.startsWith(to)
          return (
            <li key={to}>
              <Link href={to} aria-current={isCurrent ? 'page' : undefined}>
                <Icon /><span className='navigation-text'>{say(text)}</span>
                {to === '/' && waiting > 0 && (
                  <span className='count'><span aria-hidden='true'>{waiting}</span>
                    <span className='visually-hidden'>{say('app.waiting', { count: waiting })}</span>
                  </span>
                )}
              </Link>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}

function ConnectionNote () {
  const connection = useConnection()
  const announce = useAnnounce()
  const wasGone = useRef(false)
  useEffect(() => {
    if (connection === 'gone') announce(say('app.gone'))
    else if (connection === 'open' && wasGone.current) announce(say('app.back'))
    wasGone.current = connection === 'gone'
  }, [connection, announce])
  return connection === 'gone' ? <p className='note note-warn connection'>{say('app.gone')}</p> : null
}
