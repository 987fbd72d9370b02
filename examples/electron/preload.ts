// Runs before each page of the window, in a world of its own: the page gets this function and nothing else of Electron.
import { contextBridge, ipcRenderer } from 'electron'

export interface AgentBridge {
  /**
   * Returns where the service listens now, and the token for it, which stays the same. Waits while the service starts, also after a
   * crash. In the page: createAgent({ url: async () => (await agent.where()).url, token: (await agent.where()).token }).
   */
  where(): Promise<{ url: string, token: string }>
}

const bridge: AgentBridge = { where: () => ipcRenderer.invoke('agent:where') }
contextBridge.exposeInMainWorld('agent', bridge)
