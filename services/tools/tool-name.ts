/** The longest tool name that every model provider accepts; OTHER_CHARACTERS matches the characters that some provider refuses. */
const LONGEST_NAME = 64
const OTHER_CHARACTERS = /[^A-Za-z0-9_-]/g

/** Replaces refused characters and cuts the name, so that every provider accepts it. */
export const toolName = (name: string): string => name.replace(OTHER_CHARACTERS, '_').slice(0, LONGEST_NAME)

/** Returns the name with the first number, counting from `from`, that makes it free. */
export function numbered (name: string, isFree: (name: string) => boolean, from = 2): string {
  for (let n = from; ; n++) {
    const end = `_${n}`
    const candidate = toolName(name).slice(0, LONGEST_NAME - end.length) + end
    if (isFree(candidate)) return candidate
  }
}
