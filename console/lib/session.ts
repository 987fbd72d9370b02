import { useSyncExternalStore } from 'react'
import { authorized } from './authorized.ts'
import { openWorker } from './live/open-worker.ts'

const KEY = 'local-agent-token'
/** The path of the one request of the console that the service answers without the token. */
const OPEN_PATH = '/health'

/** How long to wait for the shared worker's answer with the token, in milliseconds. */
const WORKER_MS = 2_000

/** The token that the user entered in one of the tabs (undefined for none), and whether the service has refused it. */
interface Session {
  readonly token?: string
  readonly isRefused: boolean
  /** The service has answered this tab, with a token or because it needs none. */
  readonly isKnown: boolean
}

let session: Session = { token: sessionStorage.getItem(KEY) ?? undefined, isRefused: false, isKnown: false }
const listeners = new Set<() => void>()

function change (next: Partial<Session>) {
  session = { ...session, ...next }
  for (const listener of [...listeners]) listener()
}

function listen (listener: () => void) {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}

export const useSession = (): Session => useSyncExternalStore(listen, () => session)

/** Notes that the service has refused this token, unless the user has entered another one in the meantime. */
export function noteRefused (token: string | undefined): void {
  if (token === session.token && !session.isRefused) change({ isRefused: true })
}

const answered = Promise.withResolvers<void>()

/**
 * The shared worker, which keeps the token in memory until the last tab is closed. The storage of the tab holds the token only during a
 * reload; in a browser without shared workers, until the tab is closed.
 */
const worker = openWorker((message) => {
  if (message.type !== 'token') return
  if (message.token !== undefined && message.token !== session.token) change({ token: message.token, isRefused: false })
  answered.resolve()
}, {
  onHide () {
    if (session.token !== undefined) sessionStorage.setItem(KEY, session.token)
  },
  onShow: join
})

function join (): void {
  if (worker === undefined) return
  sessionStorage.removeItem(KEY)
  worker.send({ type: 'ask', token: session.token })
}

/** Resolves when the shared worker has passed the token of another tab to this tab, or has none. */
function joinSession (): Promise<void> {
  if (worker === undefined) return Promise.resolve()
  // If the worker does not answer, the user is asked for the token.
  setTimeout(answered.resolve, WORKER_MS)
  return answered.promise
}
join()

/** Sets the token for the requests of all tabs, also for requests that wait for a token. */
export function enterToken (token: string): void {
  if (worker === undefined) sessionStorage.setItem(KEY, token)
  else worker.send({ type: 'enter', token })
  change({ token, isRefused: false })
}

/** Resolves when the user has entered a token that the service accepts. Rejects with the signal's reason after an abort. */
function nextToken (signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      listeners.delete(look)
      signal.removeEventListener('abort', stop)
    }
    const look = () => {
      if (session.isRefused) return
      end()
      resolve()
    }
    const stop = () => {
      end()
      reject(signal.reason)
    }
    if (signal.aborted) return stop()
    listeners.add(look)
    signal.addEventListener('abort', stop)
    look()
  })
}

/**
 * Sends a request with the token of this tab. If the service refuses the token, the request has had no effect: it waits until the user has
 * entered another token, and is sent again.
 */
export async function sendWithToken (input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init)
  while (true) {
    const { token } = session
    const response = await fetch(authorized(request, token))
    if (response.status !== 401) {
      if (response.ok && !session.isKnown && new URL(request.url).pathname !== OPEN_PATH) change({ isKnown: true })
      return response
    }
    await response.body?.cancel()
    await joinSession()
    noteRefused(token)
    await nextToken(request.signal)
  }
}

/** Asks the service whether it accepts a token. Without a response the result is `unreachable`. */
export async function tryToken (token: string | undefined): Promise<'accepted' | 'refused' | 'unreachable'> {
  try {
    const response = await fetch(authorized(new Request('/config'), token))
    await response.body?.cancel()
    return response.status === 401 ? 'refused' : 'accepted'
  } catch {
    return 'unreachable'
  }
}
