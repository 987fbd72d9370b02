const KEPT_CHARACTERS = 8 * 1024

export type StderrTail = ReturnType<typeof createStderrTail>

/** Keeps the last 8 Ki characters that a server wrote outside the protocol, for diagnosis by a person. */
export function createStderrTail () {
  let text = ''
  return {
    add (more: string): void {
      text = (text + more.slice(-KEPT_CHARACTERS)).slice(-KEPT_CHARACTERS)
    },
    text: (): string => text
  }
}
