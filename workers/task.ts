import { parentPort, type MessagePort } from 'node:worker_threads'
import { createBirpc } from 'birpc'
import { drive, type RunActions } from '../services/runs/engine/drive.ts'
import type { TaskPort } from '../services/tasks/runner/workers.ts'

// Drives one run of a task. The state of the run is on the main thread, behind a message port that arrives as the first message.

parentPort!.once('message', (port: MessagePort) => {
  const remote = createBirpc<TaskPort>({}, {
    post: (data) => port.postMessage(data),
    on: (listener) => port.on('message', listener),
    // Models and tools can be slow, and the main thread sets the deadlines.
    timeout: -1
  })
  const act = async (action: keyof RunActions) => {
    const reply = await remote.call(action)
    // The main thread has the error and terminates this worker, so this call never settles.
    return reply.ok ? reply.value : new Promise<never>(() => {})
  }
  const actions: RunActions = {
    next: async () => await act('next') ?? 'end',
    step: async () => void await act('step'),
    settle: async () => void await act('settle'),
    judge: async () => void await act('judge')
  }
  void drive(actions).then(() => remote.end())
})
