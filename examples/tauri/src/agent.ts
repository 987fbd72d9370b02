// In a page of the Tauri app: it asks the Rust side where the service is, and calls the service directly.
import { invoke } from '@tauri-apps/api/core'
import { listen, type UnlistenFn } from '@tauri-apps/api/event'
import { createAgent, type Agent } from 'local-agent-service/client'

interface Address {
  url: string
  token: string
}

/** Returns an agent that runs in the service. Waits while it starts; throws a sentence when it has ended and is not started again. */
export async function connect (): Promise<Agent> {
  const { url, token } = await invoke<Address>('where_is_agent').catch((reason: unknown) => {
    throw new Error(String(reason))
  })
  return createAgent({ url, token })
}

/** Calls back when the service is ready, also after a restart: it may have another address then, so connect again. */
export function onReady (listener: () => void): Promise<UnlistenFn> {
  return listen('agent-ready', () => listener())
}
