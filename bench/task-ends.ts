import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'

/** Reads the events of tasks. `of` resolves when the run of a task has completed, and rejects if it has failed. */
export async function watchEnds (port: number) {
  const request = get({ port, host: '127.0.0.1', path: '/tasks/events' })
  const [response] = await once(request, 'response') as [IncomingMessage]
  const waiting = new Map<string, PromiseWithResolvers<void>>()
  // Closing the request ends the stream with an error, which is ignored.
  createInterface({ input: response }).on('error', () => {}).on('line', (line) => {
    if (!line.startsWith('data: ')) return
    const event = JSON.parse(line.slice('data: '.length)) as { type: string, taskId: string }
    if (event.type === 'task:complete') waiting.get(event.taskId)?.resolve()
    if (event.type === 'task:error') waiting.get(event.taskId)?.reject(new Error(line))
  })
  return {
    async of (taskId: string): Promise<void> {
      const end = Promise.withResolvers<void>()
      waiting.set(taskId, end)
      await end.promise
      waiting.delete(taskId)
    },
    close: () => request.destroy()
  }
}
