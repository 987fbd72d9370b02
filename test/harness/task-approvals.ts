import type { Test } from 'tap'
import type { Plan } from '../fakes/gateway.ts'
import { build } from './helper.ts'
import { tasksOf } from './tasks.ts'
import { withGateway } from './with-gateway.ts'

export type Service = Awaited<ReturnType<typeof build>>

/** Stops the service, starts it again on the same folder, and returns its tasks. */
export async function again (t: Test, { home, cwd, ...app }: Service, settings: object = {}) {
  await app.close()
  const next = await build(t, { home, cwd, ...settings })
  const tasks = await tasksOf(t, next)
  return { app: next, tasks, events: await tasks.watch() }
}

export async function begin (t: Test, settings: object = {}) {
  const app = await build(t, settings)
  const tasks = await tasksOf(t, app)
  return { app, tasks, events: await tasks.watch() }
}

/** Starts a service whose model answers with `turns`, run by run and step by step. `systems` holds the system prompts that it received. */
export async function withModel (t: Test, turns: Plan[][], settings: object = {}) {
  const systems: string[] = []
  const { app } = await withGateway(t, ({ body: { prompt } }) => {
    const steps = prompt.filter(({ role }: { role: string }) => role === 'assistant').length
    if (steps === 0) systems.push(prompt[0].content)
    return turns[systems.length - 1][steps]
  }, settings)
  const tasks = await tasksOf(t, app)
  return { app, tasks, events: await tasks.watch(), systems }
}
export const plan = { plan: { phases: [{ description: 'do it' }] } }
export const write = (path: string): Plan => ({ toolCalls: [{ toolName: 'writeFile', input: { path, content: 'x' } }] })
export const say = (text: string): Plan => ({ text: [text] })
