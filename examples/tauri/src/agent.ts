// In a page of the Tauri app: it asks the Rust side where the service is, and calls the service directly.
import { invoke } from '@tauri-apps/api/core'
import { createAgent, type Agent } from 'local-agent-service/client'

interface Address {
  url: string
  token: string
}

/** Returns where the service is. Waits while it starts; throws a sentence when it has ended and is not started again. */
const where = (): Promise<Address> =>
  invoke<Address>('where_is_agent').catch((reason: unknown) => {
    throw new Error(String(reason))
  })

/** Returns an agent that runs in the service, also when a restart has given it another address. */
export async function connect (): Promise<Agent> {
  const { token } = await where()
  return createAgent({ url: async () => (await where()).url, token })
}
