import { useEffect, useRef, useState, type ReactNode, type RefObject } from 'react'

/** Content within this distance of the view, in pixels, is in the document. */
const MARGIN = 1_000

/**
 * Calls `tell` with whether an element is near the view, at first and at each change, and with its height in pixels. Returns the function
 * that stops this.
 */
export type NearView = (element: Element, tell: (isNear: boolean, height: number) => void) => () => void

/** Watches which elements are near the view of a scrolling area; without `area`, of the page. */
export function useNearView (area?: RefObject<HTMLElement | null>): NearView {
  const [watch] = useState((): NearView => {
    const tells = new Map<Element, Parameters<NearView>[1]>()
    let observer: IntersectionObserver | undefined
    const look: IntersectionObserverCallback = (entries) => {
      for (const { target, isIntersecting, boundingClientRect } of entries) tells.get(target)?.(isIntersecting, boundingClientRect.height)
    }
    return (element, tell) => {
      observer ??= new IntersectionObserver(look, { root: area?.current ?? null, rootMargin: `${MARGIN}px 0px` })
      tells.set(element, tell)
      observer.observe(element)
      return () => {
        tells.delete(element)
        observer?.unobserve(element)
      }
    }
  })
  return watch
}

interface Props {
  near: NearView
  className?: string
  /** The height until the content is measured, in pixels. */
  estimate: number
  /** True if the content is rendered before it is known whether it is near the view. */
  isDrawnAtFirst?: boolean
  children: () => ReactNode
}

/**
 * A piece of a long list. Its content is in the document only near the view; elsewhere an empty box of the same height takes its place.
 * Content with the focus or the selection stays in the document.
 */
export function Piece ({ near, className, estimate, isDrawnAtFirst = false, children }: Props) {
  const element = useRef<HTMLDivElement>(null)
  const [{ isDrawn, height }, setState] = useState<{ isDrawn: boolean, height?: number }>({ isDrawn: isDrawnAtFirst })
  useEffect(() => {
    const piece = element.current!
    return near(piece, (isNear, seen) => setState((was) => {
      if (isNear === was.isDrawn || (was.isDrawn && isInUse(piece))) return was
      return isNear ? { isDrawn: true } : { isDrawn: false, height: seen }
    }))
  }, [near])
  return (
    <div ref={element} className={className} style={isDrawn ? undefined : { height: height ?? estimate }}>
      {isDrawn && children()}
    </div>
  )
}

function isInUse (element: Element): boolean {
  const selection = getSelection()
  return element.contains(document.activeElement) ||
    (selection !== null && !selection.isCollapsed && selection.containsNode(element, true))
}
