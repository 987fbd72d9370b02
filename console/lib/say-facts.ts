import { say } from './say.ts'

const FACTS = new RegExp([
  /^\d+ calls?: (?<read>\d+) read, (?<write>\d+) write, (?<command>\d+) command, (?<external>\d+) external; /,
  /(?<failed>\d+) failed, (?<denied>\d+) denied, (?<unknown>\d+) unknown(?:, (?<unanswered>\d+) unanswered)? · /,
  /files: (?<made>\d+) made, (?<changed>\d+) changed, (?<deleted>\d+) deleted(?: \(what (?<unseen>\d+) .*?\))? · /,
  /commands: \d+(?: \((?<commands>.*)\))? · external calls: \d+$/
].map(({ source }) => source).join(''), 's')
const COUNTS = [
  'read', 'write', 'command', 'external', 'failed', 'denied', 'unknown', 'unanswered', 'made', 'changed', 'deleted', 'unseen'
] as const

/** Returns the service's line of facts as a sentence, without the counts that are zero. */
export function sayFacts (facts: string): string {
  if (facts.startsWith('0 calls')) return say('run.noCalls')
  const found = FACTS.exec(facts)?.groups
  if (found === undefined) return `${say('run.happened')} ${facts}`
  const counts = COUNTS.flatMap((name) => Number(found[name] ?? 0) > 0 ? say(`run.fact.${name}`, { count: Number(found[name]) }) : [])
  const commands = found.commands === undefined ? [] : [sayCommands(found.commands)]
  return `${say('run.happened')} ${[...counts, ...commands].join(' · ')}`
}

/** Returns the commands of the line, with their outcomes in words. */
const sayCommands = (text: string): string => text
  .replace(/: exit code (\d+)(?=;|$)/g, (_, code: string) => `: ${say('run.exitCode', { code })}`)
  .replace(/: ended by (\w+)(?=;|$)/g, (_, signal: string) => `: ${say('run.endedBy', { signal })}`)
  .replace(/: took too long(?=;|$)/g, () => `: ${say('run.timedOut')}`)
  .replace(/: failed(?=;|$)/g, () => `: ${say('run.failedCommand')}`)
  .replace(/: outcome unknown(?=;|$)/g, () => `: ${say('run.unknownOutcome')}`)
  .replace(/: no exit code(?=;|$)/g, () => `: ${say('run.noExitCode')}`)
  .replace(/^(\d+) more, then /, (_, count: string) => `${say('run.moreCommands', { count: Number(count) })} `)
