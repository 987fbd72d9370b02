import { useEffect, useRef, type ReactNode } from 'react'
import { say } from '../lib/say.ts'

/** The title of the first page after a load does not get the focus. */
let isFirst = true

/** A page: its title, its actions and its content. The title gets the focus when the page is opened. */
export function Page ({ title, actions, children }: { title: string, actions?: ReactNode, children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} – ${say('app.name')}`
  }, [title])
  useEffect(() => {
    if (!isFirst) heading.current?.focus({ preventScroll: true })
    isFirst = false
  }, [])
  return (
    <div className='page'>
      <header className='page-head'>
        <h1 ref={heading} tabIndex={-1} title={title}>{title}</h1>
        {actions && <div className='actions'>{actions}</div>}
      </header>
      {children}
    </div>
  )
}
