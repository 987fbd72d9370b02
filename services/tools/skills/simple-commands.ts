/** What a command line may send its output to, where only its commands are looked at. */
const HARMLESS = /^(?:\d?>>?|&>>?)\s*(?:&\d|\/dev\/null)(?=[\s;&|)]|$)/

/**
 * Splits a command line at the operators of a shell into its commands. Undefined for one that may do more than its commands say:
 * substitutions, redirections to files, subshells, and quotes that do not end. It is stricter than shells are.
 */
export function simpleCommands (line: string, platform: NodeJS.Platform = process.platform): string[] | undefined {
  const commands = ['']
  let quote = ''
  for (let at = 0; at < line.length; at++) {
    const letter = line[at]
    const next = line[at + 1]
    const isSubstitution = letter === '`' || (letter === '$' && next === '(')
    if (quote !== "'" && isSubstitution) return undefined
    // Whether a backslash escapes a quote differs between the shells of Windows.
    if (platform === 'win32' && (letter === '^' || (letter === '\\' && (next === '"' || next === "'")))) return undefined
    if (letter === '\\' && quote !== "'" && platform !== 'win32') {
      // A line that goes on in the next one.
      commands[commands.length - 1] += next === '\n' ? ' ' : letter + (next ?? '')
      at++
      continue
    }
    if (quote !== '') {
      if (letter === quote) quote = ''
    } else if (letter === '"' || letter === "'") quote = letter
    else if (letter === '<' || letter === '(' || letter === ')') return undefined
    else {
      const redirection = HARMLESS.exec(line.slice(at))?.[0]
      if (redirection !== undefined) {
        at += redirection.length - 1
        continue
      }
      if (letter === '>') return undefined
      if (';|&\n\r'.includes(letter)) {
        commands.push('')
        continue
      }
    }
    commands[commands.length - 1] += letter
  }
  if (quote !== '') return undefined
  return commands.map((command) => command.trim()).filter((command) => command !== '')
}
