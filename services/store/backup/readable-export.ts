import { isDamage } from '../store-errors.ts'

/** One page of a list, and where the next one begins. */
type Page<K extends string> = { [key in K]: unknown[] } & { nextCursor?: string }

interface ReadableParts {
  /** The configuration as it stands in config.json, without secrets. */
  config: () => object
  brain: () => Promise<unknown>
  agents: () => Promise<{ agents: unknown[] }>
  /** Lists of what a person would want to read, a page at a time. */
  threads: (cursor?: string) => Promise<Page<'threads'>>
  /** The newest messages of a thread before the cursor. */
  thread: (id: string, cursor?: string) => Promise<{ messages: unknown[], settings?: unknown, nextCursor?: string }>
  /** The earlier versions of the messages of a thread. */
  versions: (id: string) => Promise<unknown[]>
  tasks: (cursor?: string) => Promise<Page<'tasks'>>
  runs: (taskId: string, cursor?: string) => Promise<Page<'runs'>>
  decisions: (cursor?: string) => Promise<Page<'approvals'>>
  grants: (cursor?: string) => Promise<Page<'grants'>>
  now: () => number
}

/**
 * Yields everything that a person can read as one JSON object, piece by piece: facts, agents, conversations with their messages and earlier
 * versions, tasks with their runs, decisions and grants. It holds no secrets, and cannot be imported. A damaged part is replaced by an
 * `error`.
 */
export async function * readableExport (parts: ReadableParts): AsyncGenerator<string> {
  yield `{\n"exportedAt": ${JSON.stringify(new Date(parts.now()).toISOString())},\n"config": ${pretty(parts.config())},\n`
  yield `"memory": ${pretty(await parts.brain().catch(damaged))},\n"agents": ${pretty((await parts.agents()).agents)},\n"threads": [`
  yield * list(pages(parts.threads, 'threads'), async (thread) => {
    const { id } = thread as { id: string }
    const messages: unknown[] = []
    let page: Awaited<ReturnType<ReadableParts['thread']>> & { error?: string } = { messages }
    let settings: unknown
    do {
      page = await parts.thread(id, page.nextCursor).catch((error) => ({ messages: [], ...damaged(error) }))
      messages.unshift(...page.messages)
      settings ??= page.settings
    } while (page.nextCursor !== undefined)
    const versions = await parts.versions(id).catch((error) => [damaged(error)])
    return { ...thread as object, settings, messages, error: page.error, ...versions.length > 0 && { versions } }
  })
  yield '],\n"tasks": ['
  yield * list(pages(parts.tasks, 'tasks'), async (task) => {
    const { id } = task as { id: string }
    return { ...task as object, runs: await all(pages((cursor) => parts.runs(id, cursor), 'runs')) }
  })
  yield '],\n"decisions": ['
  yield * list(pages(parts.decisions, 'approvals'), async (decision) => decision)
  yield '],\n"grants": ['
  yield * list(pages(parts.grants, 'grants'), async (grant) => grant)
  yield ']\n}\n'
}

/** Returns an error object for a part that is damaged or was deleted meanwhile. Rethrows any other error. */
function damaged (error: unknown): { error: string } {
  const { code, message } = error as { code?: string, message: string }
  if (!isDamage(error) && code !== 'ERR_THREAD_NOT_FOUND') throw error
  return { error: message }
}

const pretty = (value: unknown) => JSON.stringify(value, null, 2)

async function * pages<K extends string> (read: (cursor?: string) => Promise<Page<K>>, key: K): AsyncGenerator<unknown> {
  for (let cursor: string | undefined; ;) {
    const page = await read(cursor)
    yield * page[key]
    if ((cursor = page.nextCursor) === undefined) return
  }
}

async function all (entries: AsyncIterable<unknown>): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const entry of entries) found.push(entry)
  return found
}

async function * list (entries: AsyncIterable<unknown>, whole: (entry: unknown) => Promise<unknown>): AsyncGenerator<string> {
  let between = '\n'
  for await (const entry of entries) {
    yield between + pretty(await whole(entry))
    between = ',\n'
  }
}
