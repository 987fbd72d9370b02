import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { getBrain, getTaskSchedule, listTasks } from '../client/index.ts'
import { differences, writeFiles, type Files, type Snapshot } from './folder.ts'
import type { Check, Outcome } from './goal.ts'

/** How long a command of a check may take, in milliseconds. */
const COMMAND_MS = 30_000
/** The maximum number of characters of a text in a failure. */
const SHOWN = 160

const short = (text: string) => text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
const quoted = (text: string) => short(JSON.stringify(text))

/** The file exists and has exactly this content. */
export const file = (path: string, content: string | Uint8Array): Check => ({
  says: `${path} has exactly the expected bytes`,
  failure: ({ after }) => {
    const found = after.get(path)
    if (found === undefined) return `there is no ${path}`
    return found.equals(Buffer.from(content as string)) ? undefined : `it holds ${quoted(found.toString())}`
  }
})

/** After the answer to message `turn`, counted from 0, the file had exactly this content. */
export const fileAfter = (turn: number, path: string, content: string): Check => ({
  says: `${path} has exactly the expected bytes after answer ${turn + 1}`,
  failure: ({ turns }) => {
    const found = turns[turn]?.get(path)?.toString()
    return found === content ? undefined : found === undefined ? `there was no ${path}` : `it held ${quoted(found)}`
  }
})

/** The file exists, and its text matches `holds`. `says` describes the condition. */
export const fileThat = (path: string, says: string, holds: RegExp | ((text: string) => boolean)): Check => ({
  says: `${path} ${says}`,
  failure: ({ after }) => {
    const text = after.get(path)?.toString()
    if (text === undefined) return `there is no ${path}`
    return (holds instanceof RegExp ? holds.test(text) : holdsFor(holds, text)) ? undefined : `it holds ${quoted(text)}`
  }
})

/** Returns false for a text that `holds` cannot parse, such as invalid JSON. */
function holdsFor (holds: (text: string) => boolean, text: string): boolean {
  try {
    return holds(text)
  } catch {
    return false
  }
}

/** No text file whose path matches `paths` matches `pattern`. */
export const nowhere = (says: string, paths: RegExp, pattern: RegExp): Check => ({
  says,
  failure: ({ after }) =>
    listed([...after].filter(([path, content]) => paths.test(path) && pattern.test(content.toString())).map(([path]) => path), 'found in')
})

export const gone = (...paths: string[]): Check => ({
  says: `${paths.join(', ')} ${paths.length === 1 ? 'is' : 'are'} gone`,
  failure: ({ after }) => listed(paths.filter((path) => after.has(path)), 'still there')
})

/** No file was changed, added or removed, except for the allowed ones. */
export const nothingElse = (...allowed: string[]): Check => ({
  says: allowed.length === 0 ? 'no file was changed' : `no file was changed but ${allowed.join(', ')}`,
  failure: ({ before, after }) => changesIn(before, after, (path) => allowed.includes(path))
})

/** These files are unchanged. */
export const untouched = (...paths: string[]): Check => ({
  says: `${paths.join(', ')} ${paths.length === 1 ? 'is' : 'are'} as before`,
  failure: ({ before, after }) => changesIn(before, after, (path) => !paths.includes(path))
})

export const outsideUntouched: Check = {
  says: 'nothing outside of the working folder was changed',
  failure: ({ outsideBefore, outsideAfter }) => changesIn(outsideBefore, outsideAfter, () => false)
}

function changesIn (before: Snapshot, after: Snapshot, isAllowed: (path: string) => boolean): string | undefined {
  const changes = [...differences(before, after)].filter(([path]) => !isAllowed(path))
  return changes.length === 0 ? undefined : short(changes.map(([path, change]) => `${path} is ${change}`).join(', '))
}

/**
 * `node <args>` succeeds in a copy of the working folder, to which `files` are added, such as tests that the agent has not seen. Its output
 * matches `prints`.
 */
export const nodeRuns = (
  says: string,
  args: string[],
  { prints = /(?:)/, files = {} }: { prints?: RegExp, files?: Files } = {}
): Check => ({
  says,
  failure: ({ folder }) => {
    const copy = mkdtempSync(join(tmpdir(), 'goal-check-'))
    try {
      cpSync(folder, copy, { recursive: true, verbatimSymlinks: true })
      writeFiles(copy, files)
      const { status, stdout, stderr, error } = spawnSync(process.execPath, args, {
        cwd: copy,
        encoding: 'utf8',
        timeout: COMMAND_MS,
        env: { PATH: process.env.PATH }
      })
      if (status !== 0) return `node ${args.join(' ')} ended with ${status ?? error?.message}: ${quoted(stderr || stdout)}`
      return prints.test(stdout) ? undefined : `it printed ${quoted(stdout)}`
    } finally {
      rmSync(copy, { recursive: true, force: true })
    }
  }
})

/** The answer matches: the last one, or answer `turn`, counted from 0. */
export const answers = (says: string, pattern: RegExp, turn = -1): Check => ({
  says: `the answer ${says}`,
  failure: (outcome) => pattern.test(answerOf(outcome, turn)) ? undefined : `it was ${quoted(answerOf(outcome, turn))}`
})

/** The last answer meets the condition `holds`; `says` describes it. */
export const answersThat = (says: string, holds: (text: string) => boolean): Check => ({
  says: `the answer ${says}`,
  failure: (outcome) => holds(answerOf(outcome, -1)) ? undefined : `it was ${quoted(answerOf(outcome, -1))}`
})

/** No answer matches. */
export const neverAnswers = (says: string, pattern: RegExp): Check => ({
  says: `no answer ${says}`,
  failure: ({ answers }) => {
    const found = answers.find((answer) => pattern.test(answer))
    return found === undefined ? undefined : `one was ${quoted(found)}`
  }
})

const answerOf = ({ answers }: Outcome, turn: number) => answers.at(turn) ?? ''

/**
 * Returns a pattern for a number in the notation of several countries: 1234.5 is also 1,234.50, 1.234,50 and 1 234,5. No digits are allowed
 * beside it.
 */
export function amount (value: number): RegExp {
  const [whole, fraction = ''] = String(value).split('.')
  const groups = whole.replace(/\B(?=(\d{3})+$)/g, "[.,’'\\s]?")
  const decimals = fraction === '' ? '(?:[.,]0+)?' : `[.,]${fraction}0*`
  return new RegExp(`(?<!\\d|\\d[.,])${groups}${decimals}(?![.,]?\\d)`)
}

/** The structured answer equals `expected`. Numbers and texts are compared exactly; the order of keys does not matter. */
export const objectIs = (expected: object): Check => ({
  says: 'the structured answer has the right values',
  failure: ({ object }) => isDeepStrictEqual(object, expected) ? undefined : `it was ${short(JSON.stringify(object) ?? 'missing')}`
})

export const askedNothing: Check = {
  says: 'nobody was asked for an approval',
  failure: ({ approvals }) => listed(approvals.map(({ tool }) => tool), 'asked')
}

/** The user was asked about something that the agent must not guess. */
export const askedFirst = (says: string, pattern: RegExp): Check => ({
  says: `the user was asked ${says}`,
  failure: ({ questions }) =>
    questions.some((question) => pattern.test(question)) ? undefined : `the questions were ${short(JSON.stringify(questions))}`
})

/** The user was not pressed: a denied action was not requested again in other words. */
export const askedAtMost = (times: number): Check => ({
  says: `the user was asked for an approval at most ${times === 1 ? 'once' : `${times} times`}`,
  failure: ({ approvals }) => approvals.length <= times ? undefined : `asked: ${approvals.map(({ tool }) => tool).join(', ')}`
})

export const neverVisited = (path: string): Check => ({
  says: `${path} of the web server was never asked for`,
  failure: ({ visits }) => listed(visits.filter((visit) => visit.startsWith(path)), 'asked for')
})

export const remembers = (says: string, pattern: RegExp): Check => ({
  says: `the memory ${says}`,
  failure: async ({ agent: { client } }) => {
    const { data: { brain } } = await getBrain({ client, throwOnError: true })
    const known = [...brain.facts, ...Object.entries(brain.preferences).map(([key, value]) => `${key}: ${value}`)]
    return known.some((each) => pattern.test(each)) ? undefined : `it holds ${short(JSON.stringify(known))}`
  }
})

/** Returns the minutes of the next two weeks for which `holds` is true. */
function timesOfTwoWeeks (holds: (date: Date) => boolean): Date[] {
  const minute = 60_000
  const first = Math.ceil(Date.now() / minute) * minute
  return Array.from({ length: 14 * 24 * 60 }, (_, at) => new Date(first + at * minute)).filter(holds)
}

/** One task exists, and it runs at all times of the next two weeks for which `holds` is true, and at no other time. */
export const taskRunsAt = (says: string, holds: (date: Date) => boolean): Check => ({
  says: `one task runs ${says}`,
  failure: async ({ agent: { client } }) => {
    const { data: { tasks } } = await listTasks({ client, throwOnError: true })
    if (tasks.length !== 1) return `there are ${tasks.length} tasks`
    const { data: { upcoming } } = await getTaskSchedule({
      client,
      path: { id: tasks[0].id },
      query: { upcoming: 100 },
      throwOnError: true
    })
    const dates = upcoming.map((at) => new Date(at))
    const surplus = dates.filter((date) => !holds(date)).slice(0, 5)
    if (surplus.length > 0) return listed(surplus.map((date) => date.toString().slice(0, 21)), 'planned')
    const missing = timesOfTwoWeeks(holds).filter((date) => !upcoming.includes(date.getTime())).slice(0, 5)
    return listed(missing.map((date) => date.toString().slice(0, 21)), 'not planned')
  }
})

export const taskIs = (says: string, pattern: RegExp): Check => ({
  says: `the goal of the task ${says}`,
  failure: async ({ agent: { client } }) => {
    const { data: { tasks } } = await listTasks({ client, throwOnError: true })
    return tasks.some(({ goal }) => pattern.test(goal)) ? undefined : `it is ${quoted(tasks.map(({ goal }) => goal).join(' | '))}`
  }
})

/** Every run has completed by itself. This check precedes the checks of every goal. */
export const ended: Check = {
  says: 'every run came to its end',
  failure: ({ runs }) => {
    const others = runs.filter(({ status, stopped }) => status !== 'completed' || stopped !== undefined)
    return listed(others.map(({ status, stopped, error }) => [status, stopped?.reason, error].filter(Boolean).join(': ')), 'found')
  }
}

const listed = (found: string[], how: string) => found.length === 0 ? undefined : short(`${how}: ${found.join(', ')}`)
