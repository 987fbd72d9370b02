import { useSyncExternalStore } from 'react'
import { authorized } from './authorized.ts'
import { openWorker } from './live/open-worker.ts'

const KEY = 'local-agent-token'

/** How long the worker of all tabs may take to tell its token, ms. */
const WORKER_MS = 2_000

/** The token that the user entered in one of the tabs, undefined when none was entered, and whether the service has refused it. */
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

/** Notes that the service has refused this token, unless the user has entered another meanwhile. */
export function noteRefused (token: string | undefined): void {
  if (token === session.token && !session.isRefused) change({ isRefused: true })
}

const answered = Promise.withResolvers<void>()

/**
 * The worker that all tabs share has the token in its memory, until the last tab is closed. The storage of the tab has it only while its
 * page is loaded anew; where the browser has no shared workers, until the tab is closed.
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

/** Resolves when this tab has the token that another tab may have. */
function joinSession (): Promise<void> {
  if (worker === undefined) return Promise.resolve()
  // A worker that does not answer leaves the question to the user.
  setTimeout(answered.resolve, WORKER_MS)
  return answered.promise
}
join()

/** From now on, requests of all tabs are sent with this token, also those that wait for one. */
export function enterToken (token: string): void {
  if (worker === undefined) sessionStorage.setItem(KEY, token)
  else worker.send({ type: 'enter', token })
  change({ token, isRefused: false })
}

/** Resolves when the user has entered a token that the service accepts. Rejects with the reason of the signal. */
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
 * Sends a request with the token of this tab. A request that is refused for its token has done nothing: it waits until the user has
 * entered another token, and is sent again.
 */
export async function sendWithToken (input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init)
  while (true) {
    const { token } = session
    const response = await fetch(authorized(request, token))
    if (response.status !== 401) {
      if (!session.isKnown) change({ isKnown: true })
      return response
    }
    await response.body?.cancel()
    await joinSession()
    noteRefused(token)
    await nextToken(request.signal)
  }
}

/** Asks the service whether it accepts a token. */
export async function tryToken (token: string | undefined): Promise<'accepted' | 'refused' | 'unreachable'> {
  try {
    const response = await fetch(authorized(new Request('/config'), token))
    await response.body?.cancel()
    return response.status === 401 ? 'refused' : 'accepted'
  } catch {
    return 'unreachable'
  }
}
