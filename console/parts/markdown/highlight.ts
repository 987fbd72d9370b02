import hljs from 'highlight.js/lib/common'

/** Diagrams are highlighted as text, because a library that draws them is larger than the console. */
hljs.registerLanguage('mermaid', () => ({
  keywords: {
    $pattern: /[\w-]+/,
    keyword: 'flowchart graph subgraph end direction TB TD BT LR RL sequenceDiagram participant actor as note over loop alt opt else par ' +
      'activate deactivate classDiagram class stateDiagram stateDiagram-v2 state erDiagram gantt section title dateFormat pie journey ' +
      'mindmap timeline gitGraph commit branch checkout merge classDef style click'
  },
  contains: [
    { scope: 'comment', match: /%%.*/ },
    { scope: 'string', match: /"[^"\n]*"|\|[^|\n]*\||(?<=[[({])[^[\](){}"\n]+(?=[\])}])/ },
    { scope: 'symbol', match: /<?\|?(?:-[-.]*>>?|-[-.]+|==+>?|\.\.)\|?>?/ }
  ]
}))

/** A piece of code, and its class, such as `keyword`. */
interface Token {
  text: string
  kind?: string
}
interface Node {
  scope?: string
  children: Array<Node | string>
}

/** Splits code into highlighted pieces; returns undefined if the language is unknown. */
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
