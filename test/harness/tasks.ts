import type { App } from '../../app.ts'
import type { TaskStreamEvent } from '../../schemas/task-events.ts'
import { listen } from './raw.ts'
import { record } from './record-examples.ts'

interface Test {
  teardown(handler: () => unknown): unknown
}
type Told = TaskStreamEvent & Record<string, any>

/** Follows the task events of a service by its event stream. */
export async function watchTasks (t: Test, url: string, headers: Record<string, string> = {}) {
  const leave = new AbortController()
  t.teardown(() => leave.abort())
  const { body } = await fetch(`${url}/tasks/events`, { signal: leave.signal, headers })
  const events: Told[] = []
  let moved = Promise.withResolvers<void>()
  let taken = 0
  let over = false
  read().catch(() => {}).finally(() => {
    over = true
    moved.resolve()
  })

  async function read () {
    let text = ''
    const decoder = new TextDecoder()
    for await (const bytes of body!) {
      text += decoder.decode(bytes, { stream: true })
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const data = /^data: (.*)$/m.exec(text.slice(0, end))
        if (data !== null) {
          events.push(JSON.parse(data[1]))
          record({ event: events.at(-1) })
        }
        text = text.slice(end + 2)
      }
      moved.resolve()
      moved = Promise.withResolvers()
    }
  }

  return {
    events,
    /** Resolves to the next event with this type and these fields, after the last event that was waited for. */
    async until (type: Told['type'], fields: Record<string, unknown> = {}): Promise<Told> {
      for (;;) {
        const at = events.findIndex((event, index) =>
          index >= taken && event.type === type && Object.entries(fields).every(([key, value]) => event[key] === value)
        )
        if (at !== -1) {
          taken = at + 1
          return events[at]
        }
        const failed = type === 'task:complete' && events.slice(taken).find((event) => event.type === 'task:error')
        if (failed) throw new Error(`waited for task:complete, but ${JSON.stringify(failed)}`)
        if (over) throw new Error(`the stream ended without ${type} ${JSON.stringify(fields)}: ${JSON.stringify(events.slice(taken))}`)
        await moved.promise
      }
    },
    /** Resolves when this number of runs has ended in total. */
    async ended (count: number): Promise<void> {
      while (events.filter(({ type }) => type === 'task:complete' || type === 'task:error').length < count) {
        if (over) throw new Error(`the stream ended before ${count} runs had`)
        await moved.promise
      }
    },
    /** Resolves when more than `count` events have arrived; rejects when the stream has ended. */
    async beyond (count: number): Promise<void> {
      while (events.length <= count) {
        if (over) throw new Error('the stream ended')
        await moved.promise
      }
    },
    /** Returns the last events of runs, when there are `count` of them. */
    async ends (count: number): Promise<Told[]> {
      for (;;) {
        const ends = events.filter(({ type }) => type === 'task:complete' || type === 'task:error')
        if (ends.length >= count) return ends
        if (over) throw new Error(`the stream ended after ${ends.length} of ${count} runs`)
        await moved.promise
      }
    },
    of: (type: Told['type']) => events.filter((event) => event.type === type),
    leave: () => leave.abort()
  }
}

/** Returns functions that call the routes of tasks, of a service in this process or at an address, with the token if there is one. */
export async function tasksOf (t: Test, service: App | { url: string }, token?: string) {
  const known: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const url = 'url' in service ? service.url : `http://127.0.0.1:${await listen(service)}`
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {}
  ): Promise<{ status: number, body: any }> => {
    const response = await fetch(`${url}/tasks${path}`, {
      method,
      headers: { ...known, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    return { status: response.status, body: await response.json() }
  }
  return {
    url,
    call,
    get: async (path: string) => (await call('GET', path)).body,
    post: async (path: string, body?: unknown, headers?: Record<string, string>) => (await call('POST', path, body, headers)).body,
    /** Creates a task without approvals, unless the fields say otherwise. */
    create: async (goal: string, fields: object = {}) => (await call('POST', '', { goal, approval: { mode: 'never' }, ...fields })).body,
    runs: async (id: string) => (await call('GET', `/${id}/runs`)).body.runs,
    watch: () => watchTasks(t, url, known)
  }
}
