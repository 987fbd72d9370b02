import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Command, PollCommand, PollResult, StreamsCommand, StreamsResult } from './client.ts'

export type Client = ReturnType<typeof startClient>

/** Starts a client process, which executes the commands of client.ts. */
export function startClient () {
  const child = fork(fileURLToPath(new URL('./client.ts', import.meta.url)))

  async function tell (command: Command): Promise<unknown> {
    child.send(command)
    const [{ result, error }] = await once(child, 'message')
    if (error !== undefined) throw new Error(error)
    return result
  }

  return {
    streams: (command: Omit<StreamsCommand, 'kind'>) => tell({ kind: 'streams', ...command }) as Promise<StreamsResult>,
    poll: (command: Omit<PollCommand, 'kind'>) => tell({ kind: 'poll', ...command }) as Promise<PollResult>,
    stop: () => {
      child.kill()
    }
  }
}
