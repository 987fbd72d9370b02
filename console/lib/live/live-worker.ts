import { follow } from './follow.ts'
import type { FromTab, ToTab } from './messages.ts'

/** A type that TypeScript's library for pages lacks. */
interface SharedWorkerScope {
  onconnect: ((event: MessageEvent) => void) | null
}

/**
 * All tabs of this browser, and the tabs that follow events. They share one connection, because a browser opens at most six to one host.
 */
const pages = new Set<MessagePort>()
const followers = new Set<MessagePort>()
/** The token that was entered in one of the tabs. It is stored nowhere else, and is lost with the last tab. */
let token: string | undefined
let isRefused = false
let connection: AbortController | undefined
let isOpen = false

const send = (tab: MessagePort, message: ToTab) => tab.postMessage(message)

function tell (message: ToTab): void {
  if (message.type === 'connection') isOpen = message.isOpen
  if (message.type === 'refused' && message.isForToken) isRefused = true
  for (const tab of followers) send(tab, message)
}

function begin (): void {
  const begun = new AbortController()
  connection = begun
  void follow(token, begun.signal, (message) => {
    if (connection === begun) tell(message)
  }).finally(() => {
    if (connection === begun) connection = undefined
  })
}

function end (): void {
  connection?.abort()
  connection = undefined
  isOpen = false
}

/** Changes the token of all tabs. */
function change (next: string): void {
  token = next
  isRefused = false
  for (const tab of pages) send(tab, { type: 'token', token })
  if (followers.size === 0) return
  end()
  begin()
}

function take (tab: MessagePort, message: FromTab): void {
  switch (message.type) {
    case 'ask':
      pages.add(tab)
      if (message.token !== undefined && (token === undefined || isRefused)) return change(message.token)
      return send(tab, { type: 'token', token })
    case 'enter':
      return change(message.token)
    case 'follow':
      followers.add(tab)
      return connection === undefined ? begin() : send(tab, { type: 'connection', isOpen })
    case 'leave':
      pages.delete(tab)
      if (followers.delete(tab) && followers.size === 0) end()
  }
}

;(self as unknown as SharedWorkerScope).onconnect = ({ ports: [tab] }) => {
  tab.onmessage = ({ data }: MessageEvent<FromTab>) => take(tab, data)
}
