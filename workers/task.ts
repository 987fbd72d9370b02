import { parentPort, type MessagePort } from 'node:worker_threads'
import { createBirpc } from 'birpc'
import type { TaskMain, TaskPort } from '../services/tasks/runner/worker-rpc.ts'
import { taskLoop } from '../services/tasks/runner/worker-loop.ts'

// Executes one task run. Models, tools and the store are on the main thread, behind a message port that arrives as the first message.

parentPort!.once('message', (port: MessagePort) => {
  const remote = createBirpc<TaskPort>({}, {
    post: (data) => port.postMessage(data),
    on: (listener) => port.on('message', listener),
    // Models and tools may be slow; the main thread sets the deadlines.
    timeout: -1
  })
  const method = (name: keyof TaskMain) => async (...args: unknown[]) => {
    const reply = await remote.call(name, args)
    // The main thread has the error and terminates this thread, so this call never settles.
    if (!reply.ok) return new Promise<never>(() => {})
    return reply.value as never
  }
  const session = { begin: method('begin'), step: method('step'), settle: method('settle'), evaluate: method('evaluate') }
  void taskLoop(session).then((workerEnd) =>
    remote.end(workerEnd)
  )
})
