/** A word of a shell command: quoted, or without white space. */
const WORD = /"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g
/** Programs that README files often name together with their arguments in one line. */
const LAUNCHERS = /^(?:npx|uvx|uv|node|bunx?|deno|pipx|python3?|docker|podman|npm|pnpm|yarn|go|dotnet|java|ruby)$/

/**
 * Splits a command line such as `npx -y some-package` into the program and its arguments. Returns undefined for a single word, and for a
 * path with spaces.
 */
export function splitCommand (text: string): { command: string, args: string[] } | undefined {
  const words = [...text.trim().matchAll(WORD)].map(([, double, single, bare]) => double?.replace(/\\(.)/g, '$1') ?? single ?? bare)
  const [command, ...args] = words
  return args.length > 0 && LAUNCHERS.test(command) ? { command, args } : undefined
}
