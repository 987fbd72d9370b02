import { say, type TextKey } from './say.ts'

/** The line of facts as the service writes it: calls by effect; what became of files; commands; calls to the outside. */
const LINE = new RegExp(
  String.raw`^(?<calls>\d+ calls?): (?<kinds>[^;·]*); (?<ends>[^·]*) · ` +
    String.raw`files: (?<made>\d+) made, (?<changed>\d+) changed, (?<deleted>\d+) deleted(?<unseen> \([^)]*\))? · ` +
    String.raw`commands: (?<commands>\d+)(?: \((?<named>.*)\))? · external calls: (?<external>\d+)$`,
  's'
)
const COUNTS = { made: 'run.madeFiles', changed: 'run.changedFiles', deleted: 'run.deletedFiles' } as const

/** Returns the line of facts of a run as a sentence without what there was none of; a run without calls has no numbers to show. */
export function sayFacts (facts: string): string {
  if (facts.startsWith('0 calls')) return say('run.noCalls')
  const { calls, kinds, ends, unseen = '', named, ...counts } = LINE.exec(facts)?.groups ?? {}
  if (calls === undefined) return `${say('run.happened')} ${facts}`
  const some = [kinds, ends].flatMap((list) => list.split(', ')).filter((item) => !item.startsWith('0 '))
  const count = (name: string, key: TextKey) => Number(counts[name]) === 0 ? [] : [say(key, { count: Number(counts[name]) })]
  const files = Object.entries(COUNTS).flatMap(([name, key]) => count(name, key)).join(', ') + unseen
  const commands = count('commands', 'run.ranCommands').map((text) => named === undefined ? text : `${text} (${named})`)
  const parts = [`${calls}: ${some.join(', ')}`, files.trim(), ...commands, ...count('external', 'run.externalCalls')]
  return `${say('run.happened')} ${parts.filter((part) => part !== '').join(' · ')}`
}
