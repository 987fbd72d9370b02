import { stripVTControlCharacters } from 'node:util'

/** Matches an end for which only an exit code is known. Other clauses already say more: the meaning of the code, or a signal. */
const ENDED = /^it ended with exit code \d+$/
/** Matches log lines of the levels TRACE to NOTICE, which report no trouble, in the usual notations of a level. */
const AT_INFO = [
  /^(?:\S+\s+){0,6}?\W*(?:INFO|DEBUG|TRACE|NOTICE)\b/,
  /^\W*(?:info|debug|trace|notice)\b\W*[\s:]/i,
  /\blevel["']?\s*[=:]\s*["']?(?:info|debug|trace|notice|10|20|30)\b/i
]
/** Matches stack frames, marker lines below code, version lines, and messages of npm about itself. */
const NOISE = [
  /^\s+at |^\s*File "|^[\s^~]*$|^Node\.js v\d|^Traceback /,
  /^npm (?:warn|notice|http)|^npm (?:error|ERR!)(?: (?:A complete log|code |errno |syscall |path |dest )|\s*$)/i
]
const NAMED = /^(?:Uncaught )?(?:[\w.]*(?:Error|Exception)(?: \[\w+\])?:|(?:fatal|panic|error)\b)\s*\S|^npm (?:error|ERR!) /i
const TELLS = /\b(?:error|can(?:no|')t|could not|not found|no such|missing|required?|must|invalid|denied|refused|unable|failed|usage)\b/i
const LONGEST = 200

const shortened = (text: string) => text.length <= LONGEST ? text : `${text.slice(0, LONGEST).toWellFormed()}…`

/**
 * Returns the line of a stderr that best says why a program ended: a line that names an error, else the last line that hints at an error,
 * else the last line. Log lines of the levels TRACE to NOTICE are ignored. Returns undefined if no line is left.
 */
export function reasonIn (stderr: string): string | undefined {
  const shown = stripVTControlCharacters(stderr).split('\n').map((line) => line.replace(/\p{Cc}/gu, ' ').trimEnd())
  const lines = shown.filter((line) => ![...NOISE, ...AT_INFO].some((pattern) => pattern.test(line)))
  const named = lines.filter((line) => NAMED.test(line))
  const found = named.find((line) => line.startsWith('npm ')) ?? named.at(-1) ?? lines.findLast((line) => TELLS.test(line)) ?? lines.at(-1)
  const text = found?.trim().replace(/\.$/, '')
  return text === undefined ? undefined : shortened(text)
}

/** Matches lines that show no progress: warnings about packages, bare prefixes of npm's errors, and lines without letters. */
const NO_PROGRESS = /^npm (?:warn|notice)(?! exec )|^npm (?:error|ERR!)\s*$|^[^\p{L}]*$/iu
const OF_NPM = /^npm (?:warn exec|http fetch|http cache|info run|info) /i

/** Returns the newest line of a stderr that shows the progress of a starting program; undefined for none. */
export function progressIn (stderr: string): string | undefined {
  const lines = stripVTControlCharacters(stderr).split('\n').map((line) => line.trimEnd().split('\r').at(-1)!.replace(/\p{Cc}/gu, ' '))
  const found = lines.findLast((line) => !NOISE[0].test(line) && !NO_PROGRESS.test(line))
  return found === undefined ? undefined : shortened(found.trim().replace(OF_NPM, ''))
}

/** Adds the reason found in a server's stderr to the clause about its end, if the clause has only an exit code. */
export function withReason (why: string, stderr: string): string {
  const reason = ENDED.test(why) ? reasonIn(stderr) : undefined
  return reason === undefined ? why : `${why}, and said: ${reason}`
}
