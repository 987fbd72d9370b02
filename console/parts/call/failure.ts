import { say } from '../../lib/say.ts'
import { isRecord } from './values.tsx'

/** Returns why a call that has an output failed all the same, such as a command with an exit code; undefined when it did not fail. */
export function failureIn (output: unknown): string | undefined {
  if (!isRecord(output)) return undefined
  if (output.timedOut === true) return say('run.timedOut')
  if (typeof output.signal === 'string') return say('run.endedBy', { signal: output.signal })
  if (typeof output.exitCode === 'number' && output.exitCode !== 0) return say('run.exitCode', { code: String(output.exitCode) })
  return output.isError === true ? say('run.toolFailed') : undefined
}
