const KEPT_CHARACTERS = 8 * 1024

export type Tail = ReturnType<typeof createTail>

/** The last of what a server wrote beside its messages: what a person looks at when it does not work. */
export function createTail () {
  let text = ''
  return {
    add (more: string): void {
      text = (text + more.slice(-KEPT_CHARACTERS)).slice(-KEPT_CHARACTERS)
    },
    text: (): string => text
  }
}
