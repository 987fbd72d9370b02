import type { Client } from '../driver.ts'
import { createHome, NAMES, startModels, startSubject, type Models, type Subject } from '../subjects.ts'

type Pair = Record<typeof NAMES[number], Subject>

export interface Context {
  client: Client
  /** A second client, for requests during the load. */
  beside: Client
  /** Returns the number of repetitions: `usual`, or fewer in a quick run. */
  times(usual: number): number
}

export const REQUEST = { path: '/run', body: JSON.stringify({ messages: [{ role: 'user', content: 'Tell me something about the sea.' }] }) }

/** Starts both subjects with one model server, runs `work`, and stops all of them. */
export async function withBoth<T> (
  { models: args, config = {}, env = () => ({}) }: {
    models: Parameters<typeof startModels>[0]
    config?: object
    env?: (dir: string) => Record<string, string>
  },
  work: (subjects: Pair, models: Models, dir: string) => Promise<T>
): Promise<T> {
  const home = createHome(config)
  const models = await startModels(args)
  const subjects = {} as Pair
  try {
    for (const name of NAMES) subjects[name] = await startSubject(name, { dir: home.dir, url: models.url, env: env(home.dir) })
    return await work(subjects, models, home.dir)
  } finally {
    await Promise.all([...Object.values(subjects), models].map((each) => each.stop()))
    home.remove()
  }
}
