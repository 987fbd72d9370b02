import { useEffect, useRef, useState } from 'react'
import { VisibleText } from '../visible-text.tsx'

/** A formula, rendered as MathML. It is shown as its source until the parser is loaded, and if the source cannot be parsed. */
export function Formula ({ tex, isDisplay }: { tex: string, isDisplay: boolean }) {
  const place = useRef<HTMLSpanElement>(null)
  const [isDrawn, setIsDrawn] = useState(false)
  useEffect(() => {
    let isGone = false
    import('katex').then(({ default: katex }) => {
      if (isGone) return
      katex.render(tex, place.current!, { output: 'mathml', displayMode: isDisplay, strict: 'ignore', maxExpand: 500 })
      setIsDrawn(true)
    }).catch(() => setIsDrawn(false))
    return () => {
      isGone = true
    }
  }, [tex, isDisplay])
  return (
    <span className={isDisplay ? 'formula formula-display' : 'formula'}>
      <span ref={place} hidden={!isDrawn} />
      {!isDrawn && <code><VisibleText text={tex} limit={Infinity} /></code>}
    </span>
  )
}
