/** Limits that every model provider accepts for the name of a tool. */
const LONGEST_NAME = 64
const OTHER_CHARACTERS = /[^A-Za-z0-9_-]/g

/** Returns a name with the characters and the length that every provider accepts. */
export const toolName = (name: string): string => name.replace(OTHER_CHARACTERS, '_').slice(0, LONGEST_NAME)

/** Returns a name with the first number that makes it unique. */
export function numbered (name: string, isFree: (name: string) => boolean, from = 2): string {
  for (let n = from; ; n++) {
    const end = `_${n}`
    const candidate = toolName(name).slice(0, LONGEST_NAME - end.length) + end
    if (isFree(candidate)) return candidate
  }
}
