/** How many characters are compared at a time. Shorter texts cannot be searched for. */
const STEP = 6

interface Node<T> {
  /** The values of texts that end at this node, by their characters after the last whole step. */
  ends: Map<string, T>
  next: Map<string, Node<T>>
}

const newNode = <T>(): Node<T> => ({ ends: new Map(), next: new Map() })

/** Returns a hash of two characters, below 2^16. */
const hashAt = (text: string, at: number): number => (text.charCodeAt(at) * 31 + text.charCodeAt(at + 1)) & 0xffff

/**
 * Creates the search for many texts at once, each with a value of its own. An input is read once, however many
 * texts are searched for, because somebody might have written the input to contain thousands of them.
 */
export function createTextFinder<T> () {
  const root = newNode<T>()
  const beginnings = new Uint8Array(0x10000)

  function longestAt (text: string, start: number): { end: number, found: T } | undefined {
    if (beginnings[hashAt(text, start)] === 0) return undefined
    let longest: { end: number, found: T } | undefined
    let node: Node<T> | undefined = root
    for (let at = start; node !== undefined; at += STEP) {
      const piece = text.slice(at, at + STEP)
      if (node.ends.size > 0) {
        for (let length = Math.min(piece.length, STEP - 1); length >= 0; length--) {
          const found = node.ends.get(piece.slice(0, length))
          if (found === undefined) continue
          longest = { end: at + length, found }
          break
        }
      }
      node = node.next.get(piece)
    }
    return longest
  }

  return {
    /** Adds a text to search for, with its value. Texts shorter than STEP characters are ignored. */
    add (text: string, found: T): void {
      if (text.length < STEP) return
      beginnings[hashAt(text, 0)] = 1
      let node = root
      let at = 0
      for (; at + STEP <= text.length; at += STEP) {
        const piece = text.slice(at, at + STEP)
        const next = node.next.get(piece) ?? newNode<T>()
        node.next.set(piece, next)
        node = next
      }
      const rest = text.slice(at)
      if (!node.ends.has(rest)) node.ends.set(rest, found)
    },

    /**
     * Replaces every found text by the result of `by` for its value. Overlapping texts are replaced as one, with the value of the longest.
     */
    replace (text: string, by: (found: T) => string): string {
      let replaced = ''
      let kept = 0
      for (let at = 0; at + STEP <= text.length; at++) {
        const first = longestAt(text, at)
        if (first === undefined) continue
        let { end, found } = first
        let length = end - at
        for (let inside = at + 1; inside < end; inside++) {
          const other = longestAt(text, inside)
          if (other === undefined || other.end <= end) continue
          if (other.end - inside > length) ({ found, length } = { found: other.found, length: other.end - inside })
          end = other.end
        }
        replaced += text.slice(kept, at) + by(found)
        kept = end
        at = end - 1
      }
      return kept === 0 ? text : replaced + text.slice(kept)
    }
  }
}
