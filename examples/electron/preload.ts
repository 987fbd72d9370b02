// Runs before each page of the window, in a world of its own: the page gets these two functions and nothing else of Electron.
import { contextBridge, ipcRenderer } from 'electron'

export interface AgentBridge {
  /** Returns where the service listens and the token for it. Waits while the service starts. */
  where(): Promise<{ url: string, token: string }>
  /** Calls back when the service was restarted: ask `where` again. */
  onReady(listener: () => void): void
}

const bridge: AgentBridge = {
  where: () => ipcRenderer.invoke('agent:where'),
  onReady (listener) {
    ipcRenderer.on('agent:ready', () => listener())
  }
}
contextBridge.exposeInMainWorld('agent', bridge)
