import hljs from 'highlight.js/lib/common'

/** A piece of code, and what it is, such as `keyword`. */
export interface Token {
  text: string
  kind?: string
}
interface Node {
  scope?: string
  children: Array<Node | string>
}

/** Returns code in pieces that have colours, or undefined where the language is not known. */
export function tokensOf (code: string, language: string): Token[] | undefined {
  if (hljs.getLanguage(language) === undefined) return undefined
  const { _emitter } = hljs.highlight(code, { language, ignoreIllegals: true })
  const tokens: Token[] = []
  const walk = ({ scope, children }: Node, outer?: string) => {
    const kind = scope?.split('.')[0] ?? outer
    for (const child of children) {
      if (typeof child === 'string') tokens.push({ text: child, kind })
      else walk(child, kind)
    }
  }
  walk((_emitter as unknown as { rootNode: Node }).rootNode)
  return tokens
}
