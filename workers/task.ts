import { parentPort, type MessagePort } from 'node:worker_threads'
import { createBirpc } from 'birpc'
import type { TaskMain, TaskPort } from '../services/tasks/runner/worker-rpc.ts'
import { taskLoop } from '../services/tasks/runner/worker-loop.ts'

// One task run. Everything it needs is on the main thread, behind a port of its own that comes as the first message.

parentPort!.once('message', (port: MessagePort) => {
  const remote = createBirpc<TaskPort>({}, {
    post: (data) => port.postMessage(data),
    on: (listener) => port.on('message', listener),
    // A model or a tool takes its time; the main thread is the one to be impatient.
    timeout: -1
  })
  const method = (name: keyof TaskMain) => async (...args: unknown[]) => {
    const reply = await remote.call(name, args)
    // The main thread knows why, and ends this thread.
    if (!reply.ok) return new Promise<never>(() => {})
    return reply.value as never
  }
  void taskLoop({ begin: method('begin'), step: method('step'), settle: method('settle'), evaluate: method('evaluate') }).then((how) =>
    remote.end(how)
  )
})
