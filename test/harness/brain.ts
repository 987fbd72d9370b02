import type { Test } from 'tap'
import type { App } from '../../app.ts'
import type { Learning } from '../../services/brain/brain.ts'
import { emptyMemory, type Entry, type Memory } from '../../services/brain/memory.ts'
import { fakeClock } from './clock.ts'
import { build } from './helper.ts'

/** Calls a route of the brain. */
export const call = async (app: App, method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) => {
  const answer = await app.inject({ method, url: `/memory/brain${url}`, ...(payload && { payload }) })
  return { status: answer.statusCode, body: answer.json() }
}
export const list = async (app: App, query = '') => (await call(app, 'GET', `/facts${query}`)).body.facts
export const texts = async (app: App, query = '') => (await list(app, query)).map(({ fact }: { fact: string }) => fact)
export const brain = async (app: App) => (await call(app, 'GET', '')).body.brain
/** Returns the id of an entry of the memory, in any state. */
export const idOf = async (app: App, fact: string): Promise<string> => {
  for (const state of ['known', 'proposed', 'replaced']) {
    for (const kind of ['fact', 'preference', 'instruction']) {
      for (const each of await list(app, `?state=${state}&kind=${kind}&limit=500`)) if (each.fact === fact) return each.id
    }
  }
  throw new Error(`no ${fact}`)
}

const known = (content: Pick<Entry, 'kind' | 'fact' | 'key' | 'value'>): Entry =>
  ({ id: content.fact, state: 'known', createdAt: 1, said: 1, ...content })

/** Returns a memory that holds these typed entries. */
export const memoryOf = ({ facts = [], preferences = {} }: { facts?: string[], preferences?: Record<string, string> }): Memory => ({
  ...emptyMemory(),
  entries: [
    ...facts.map((fact) => known({ kind: 'fact', fact })),
    ...Object.entries(preferences).map(([key, value]) => known({ kind: 'preference', fact: `${key}: ${value}`, key, value }))
  ]
})

/** Starts the service with a fake clock. `tell` adds an entry to the memory, as if it was learned from a message. */
export async function learning (t: Test) {
  const clock = fakeClock()
  const app = await build(t, { clock })
  const tell = async (fact: string, more: Partial<Learning> = {}) => {
    await clock.advance(1000)
    const source = { threadId: 'chat', message: 0, span: fact }
    return app.brain.ingest([
      { kind: 'fact', fact, replaces: [], isRetraction: false, isUnsure: false, said: clock.now(), source, ...more }
    ])
  }
  return { app, clock, tell }
}

const THINGS = ['lamp', 'kettle', 'scarf', 'ladder', 'mirror', 'hammer', 'carpet', 'violin', 'basket', 'candle', 'pillow', 'wallet']
const PLACES = ['Ashford', 'Belmont', 'Carlow', 'Dunmore', 'Elgin', 'Fulham', 'Goole', 'Hexham', 'Ilford', 'Jarrow', 'Kelso']
const DEEDS = ['repaired', 'painted', 'sold', 'borrowed', 'cleaned', 'measured', 'wrapped', 'polished', 'varnished', 'catalogued']

/** Returns many varied entries, as after years of use, each with its words and topics. */
export const manyEntries = (count: number): Entry[] => Array.from({ length: count }, (_, n) => {
  const [thing, place, deed] = [THINGS[n % THINGS.length], PLACES[n % PLACES.length], DEEDS[n % DEEDS.length]]
  const value = `I ${deed} the ${thing} number ${n} from ${place} for c${(n * 7919) % 10_007}.`
  return {
    id: `many-${n}`,
    kind: n % 2 === 0 ? 'fact' : 'preference',
    state: 'known',
    fact: value,
    ...(n % 2 === 1 && { key: `job ${n}`, value }),
    topics: [thing, 'workshop', `order${n % 400}`],
    createdAt: n,
    said: n
  }
})
