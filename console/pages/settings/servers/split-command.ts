/** A word of a shell: in quotes, or without blanks. */
const WORD = /"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g
/** Programs that README files name with their arguments in one line. */
const LAUNCHERS = /^(?:npx|uvx|uv|node|bunx?|deno|pipx|python3?|docker|podman|npm|pnpm|yarn|go|dotnet|java|ruby)$/

/**
 * Returns a program and its arguments, as `npx -y some-package` names them in one line; undefined for a single word, and for a path with
 * blanks.
 */
export function splitCommand (text: string): { command: string, args: string[] } | undefined {
  const words = [...text.trim().matchAll(WORD)].map(([, double, single, bare]) => double?.replace(/\\(.)/g, '$1') ?? single ?? bare)
  const [command, ...args] = words
  return args.length > 0 && LAUNCHERS.test(command) ? { command, args } : undefined
}
