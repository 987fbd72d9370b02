import { follow } from './follow.ts'
import type { FromTab, ToTab } from './messages.ts'

/** What TypeScript's library for pages lacks. */
interface SharedWorkerScope {
  onconnect: ((event: MessageEvent) => void) | null
}

/** The tabs of this browser that follow the service with one token. They share one connection, because a browser has only six. */
const tabs = new Set<MessagePort>()
let connection: AbortController | undefined
let isOpen = false

function tell (message: ToTab) {
  if (message.type === 'connection') isOpen = message.isOpen
  for (const tab of tabs) tab.postMessage(message)
}

function leave (tab: MessagePort) {
  tabs.delete(tab)
  if (tabs.size > 0) return
  connection?.abort()
  connection = undefined
  isOpen = false
}

;(self as unknown as SharedWorkerScope).onconnect = ({ ports: [tab] }) => {
  tab.onmessage = ({ data }: MessageEvent<FromTab>) => {
    if (data.type === 'leave') return leave(tab)
    tabs.add(tab)
    if (connection !== undefined) return tab.postMessage({ type: 'connection', isOpen } satisfies ToTab)
    const begun = new AbortController()
    connection = begun
    void follow(data.token, begun.signal, (message) => {
      if (connection === begun) tell(message)
    }).finally(() => {
      if (connection === begun) connection = undefined
    })
  }
}
