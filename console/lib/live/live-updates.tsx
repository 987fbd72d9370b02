import { createContext, useContext, useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import type { ServiceEvent } from '../../../client/events.ts'
import { queries } from '../queries.ts'
import { noteRefused, useSession } from '../session.ts'
import { connect } from './connect.ts'
import { createInvalidator } from './invalidate.ts'

type Connection = 'connecting' | 'open' | 'gone'
type Listener = (event: ServiceEvent) => void

const Live = createContext<{ connection: Connection, listen: (listener: Listener) => () => void }>({
  connection: 'connecting',
  listen: () => () => {}
})

/** Keeps the data of the page up to date with one event stream for all tabs, which reconnects by itself. */
export function LiveUpdates ({ children }: { children: ReactNode }) {
  const [connection, setConnection] = useState<Connection>('connecting')
  const [listeners] = useState(() => new Set<Listener>())
  const { token, isRefused } = useSession()

  // Without a valid token there is no connection; the token gate asks for one.
  useEffect(() => {
    setConnection('connecting')
    if (isRefused) return
    const invalidate = createInvalidator()
    return connect(token, (message) => {
      if (message.type === 'connection') setConnection(message.isOpen ? 'open' : 'gone')
      else if (message.type === 'refused') {
        if (message.isForToken) noteRefused(message.token)
        else setConnection('gone')
      } else if (message.type === 'event') {
        invalidate(message.event)
        for (const listener of listeners) listener(message.event)
      }
    })
  }, [listeners, token, isRefused])

  // Data that was read before the stream was open may be out of date, and failed reads are tried again.
  useEffect(() => {
    if (connection === 'open') void queries.invalidateQueries()
  }, [connection])

  const live = useMemo(() => ({
    connection,
    listen (listener: Listener) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    }
  }), [connection, listeners])
  return <Live.Provider value={live}>{children}</Live.Provider>
}

/** The state of the event stream: `open` if events arrive. */
export const useConnection = () => useContext(Live).connection

/** Calls the listener for every event of the service while the component is mounted. */
export function useServiceEvents (listener: Listener) {
  const { listen } = useContext(Live)
  const current = useRef(listener)
  useEffect(() => {
    current.current = listener
  })
  useEffect(() => listen((event) => current.current(event)), [listen])
}
