import type { Client } from '../driver.ts'
import { createHome, NAMES, startModels, startSubject, type Models, type Subject } from '../subjects.ts'

type Pair = Record<typeof NAMES[number], Subject>

export interface Context {
  client: Client
  /** A second client, for what is asked beside the load. */
  beside: Client
  /** The number of repetitions: fewer for a quick run. */
  times(usual: number): number
}

export const REQUEST = { path: '/run', body: JSON.stringify({ messages: [{ role: 'user', content: 'Tell me something about the sea.' }] }) }

/** Runs `work` with both subjects up in front of one model server, and ends all of them. */
export async function withBoth<T> (
  { models: args, config = {} }: { models: Parameters<typeof startModels>[0], config?: object },
  work: (subjects: Pair, models: Models) => Promise<T>
): Promise<T> {
  const home = createHome(config)
  const models = await startModels(args)
  const subjects = {} as Pair
  try {
    for (const name of NAMES) subjects[name] = await startSubject(name, { dir: home.dir, url: models.url })
    return await work(subjects, models)
  } finally {
    await Promise.all([...Object.values(subjects), models].map((each) => each.stop()))
    home.remove()
  }
}
