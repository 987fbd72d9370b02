import { createContext, Script } from 'node:vm'

/**
 * Creates a function that runs synchronous work. It throws what the work throws, and an error when the work is interrupted after `ms`
 * milliseconds: also in the middle of a regular expression.
 */
export function createTimeLimit (ms: number) {
  // node:vm is the only way to interrupt synchronous code.
  let context: { work?: () => unknown } | undefined
  const script = new Script('work()')
  return <T>(work: () => T): T => {
    context ??= createContext({})
    context.work = work
    try {
      return script.runInContext(context, { timeout: ms })
    } finally {
      context.work = undefined
    }
  }
}
