import { useEffect, useMemo, useState } from 'react'
import { VisibleText } from '../visible-text.tsx'
import type { tokensOf } from './highlight.ts'

/** Code longer than this, in characters, is not highlighted, because that would take too long. */
const LONGEST = 20_000
let loaded: typeof tokensOf | undefined

/** Returns the highlighter, which is loaded with the first code that has a language. */
function useColours (isNeeded: boolean) {
  const [colour, setColour] = useState(() => loaded)
  useEffect(() => {
    if (!isNeeded || colour !== undefined) return
    let isGone = false
    import('./highlight.ts').then((module) => {
      loaded = module.tokensOf
      if (!isGone) setColour(() => loaded)
    }).catch(() => {})
    return () => {
      isGone = true
    }
  }, [isNeeded, colour])
  return colour
}

/** Code with syntax highlighting once the highlighter is loaded, and with hidden characters made visible. */
export function CodeText ({ text, language }: { text: string, language?: string }) {
  const isNeeded = language !== undefined && text.length <= LONGEST
  const colour = useColours(isNeeded)
  const tokens = useMemo(() => isNeeded ? colour?.(text, language) : undefined, [colour, isNeeded, text, language])
  if (tokens === undefined) return <VisibleText text={text} limit={Infinity} />
  return (
    <>
      {tokens.map(({ text, kind }, at) => {
        const shown = <VisibleText key={at} text={text} limit={Infinity} />
        return kind === undefined ? shown : <span key={at} className={`code-${kind}`}>{shown}</span>
      })}
    </>
  )
}
