import { useSyncExternalStore } from 'react'
import { authorized } from './authorized.ts'

const KEY = 'local-agent-token'

/** The token that the user entered in this tab, undefined when none was entered, and whether the service has refused it. */
interface Session {
  readonly token?: string
  readonly isRefused: boolean
}

let session: Session = { token: sessionStorage.getItem(KEY) ?? undefined, isRefused: false }
const listeners = new Set<() => void>()

function change (next: Session) {
  session = next
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
  if (token === session.token && !session.isRefused) change({ token, isRefused: true })
}

/** From now on, requests are sent with this token, also those that wait for one. It is kept until the tab is closed. */
export function enterToken (token: string): void {
  sessionStorage.setItem(KEY, token)
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
    if (response.status !== 401) return response
    await response.body?.cancel()
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
