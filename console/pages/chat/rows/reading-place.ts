/** A reader who scrolls down to within this distance of the end, in pixels, is at the end. */
const NEAR_END = 60
/** Within this distance of the beginning, in pixels, older messages are loaded. */
const NEAR_BEGINNING = 2_000
/** The number of frames for which a target must not move before it counts as reached. */
const STILL_FRAMES = 20
/** How long a reached target is highlighted, in milliseconds. */
const MARKED_MS = 2_000
/** Keys that scroll up. */
const UPWARDS = new Set(['ArrowUp', 'PageUp', 'Home'])
/** Selects elements that expand content below themselves when they are pressed. */
const OPENERS = 'summary, [aria-expanded], .show-all'

export interface Place {
  /** True if the end is out of view and is not followed. */
  isAway: boolean
  isNearBeginning: boolean
}

/** True if the browser supports scroll anchoring: it keeps the visible content in place when content above it changes height. */
const hasAnchoring = CSS.supports('overflow-anchor', 'auto')

/**
 * Keeps the reader's place in a scrolling area whose content grows. At the end, the area follows the end; the first movement up stops that
 * at once, and scrolling down to the end starts it again. Elsewhere, only the reader scrolls.
 */
export function keepPlace (area: HTMLElement, content: HTMLElement, tell: (place: Place) => void) {
  let isFollowing = true
  /** The scroll position at the last check, in pixels. */
  let last = 0
  /** The heights of the content in the last two frames, in pixels: the end might have moved since the reader saw it. */
  let heights = [0, 0]
  /**
   * The element at the top of the view, and its distance from the top in pixels. Used where the browser does not anchor the scroll
   * position: some browsers never do, and none does at the very beginning.
   */
  let held: { element: Element, offset: number } | undefined
  let told: Place = { isAway: false, isNearBeginning: false }
  let touchedAt = 0
  /** Finds the element to scroll to. Set until the element is reached or the reader scrolls. */
  let aim: (() => Element | null | undefined) | undefined
  /** True while a mouse button is down, because it might drag the scroll bar or a selection. */
  let isPressed = false

  const offsetOf = (element: Element) => element.getBoundingClientRect().top - area.getBoundingClientRect().top
  const isBelowTop = (element: Element) => offsetOf(element) + element.getBoundingClientRect().height > 0

  const isNearEnd = (bottom: number, height: number) => [...heights, height].some((end) => Math.abs(end - bottom) <= NEAR_END)

  function hold () {
    held = undefined
    if (isFollowing || (hasAnchoring && last > 0)) return
    const piece = [...content.children].find(isBelowTop)
    const element = [...piece?.children ?? []].find(isBelowTop) ?? piece
    if (element !== undefined) held = { element, offset: offsetOf(element) }
  }

  function look (isNewSize: boolean) {
    if (isNewSize && held?.element.isConnected) area.scrollTop += offsetOf(held.element) - held.offset
    const { scrollTop: top, scrollHeight: height, clientHeight: room } = area
    const fromEnd = height - top - room
    if (isFollowing) isFollowing = !isPressed || top >= last - 1 || fromEnd <= 1
    else isFollowing = (top > last && isNearEnd(top + room, height)) || (isNewSize && fromEnd <= 1)
    if (isFollowing && isNewSize && fromEnd > 0) area.scrollTop = height
    // Without anchoring, the browser cannot scroll up while the end is followed.
    area.style.overflowAnchor = isFollowing ? 'none' : 'auto'
    last = area.scrollTop
    if (isNewSize) heights = [heights[1], height]
    hold()
    const place = { isAway: !isFollowing && fromEnd > 1, isNearBeginning: last < NEAR_BEGINNING }
    if (place.isAway === told.isAway && place.isNearBeginning === told.isNearBeginning) return
    told = place
    tell(place)
  }

  /** Scrolls to an element, and stays there while the content around it gets its size. */
  function show (find: NonNullable<typeof aim>) {
    isFollowing = false
    area.style.overflowAnchor = 'auto'
    aim = find
    let still = 0
    const step = () => {
      if (aim !== find || ended.signal.aborted) return
      const element = find()
      const before = area.scrollTop
      element?.scrollIntoView({ block: 'center' })
      still = Math.abs(area.scrollTop - before) < 1 ? still + 1 : 0
      if (still < STILL_FRAMES) return void requestAnimationFrame(step)
      aim = undefined
      element?.animate([{ background: 'var(--accent-soft)' }, { background: 'transparent' }], MARKED_MS)
    }
    step()
  }

  function follow () {
    aim = undefined
    isFollowing = true
    area.scrollTop = area.scrollHeight
    look(true)
  }
  function leave () {
    if (area.scrollTop <= 0) return
    isFollowing = false
    area.style.overflowAnchor = 'auto'
  }
  function onWheel ({ deltaY, ctrlKey, target }: WheelEvent) {
    aim = undefined
    if (deltaY < 0 && !ctrlKey && !scrollsWithin(target)) leave()
  }
  /** Returns true if an element within the area will scroll up itself. */
  function scrollsWithin (target: EventTarget | null): boolean {
    for (let element = target as Element | null; element !== null && element !== area; element = element.parentElement) {
      if (element.scrollTop > 0) return true
    }
    return false
  }
  function onKey (event: KeyboardEvent) {
    const { key, shiftKey, target } = event
    if (target instanceof Element && target.matches('input, textarea, select')) return
    aim = undefined
    if (UPWARDS.has(key) || (key === ' ' && shiftKey)) return leave()
    if (key !== 'End') return
    // The end may move while the browser scrolls to its current place.
    event.preventDefault()
    follow()
  }
  function onTouch ({ type, touches: [touch], target }: TouchEvent) {
    aim = undefined
    if (type === 'touchstart') touchedAt = touch.clientY
    else if (touch.clientY > touchedAt && !scrollsWithin(target)) leave()
  }
  function onPointer ({ type, buttons }: PointerEvent) {
    if (type === 'pointerdown') aim = undefined
    isPressed = type === 'pointerdown' || (isPressed && buttons !== 0)
  }
  /** The browser scrolls to an element that gets the focus. */
  function onFocus () {
    requestAnimationFrame(() => {
      if (area.scrollTop < last - 1) leave()
    })
  }
  function onClick ({ target }: MouseEvent) {
    if (target instanceof Element && target.closest(OPENERS) !== null) leave()
  }

  const ended = new AbortController()
  const passive = { passive: true, signal: ended.signal }
  area.addEventListener('wheel', onWheel, passive)
  area.addEventListener('touchstart', onTouch, passive)
  area.addEventListener('touchmove', onTouch, passive)
  area.addEventListener('keydown', onKey, { signal: ended.signal })
  area.addEventListener('click', onClick, passive)
  area.addEventListener('focusin', onFocus, passive)
  area.addEventListener('pointerdown', onPointer, passive)
  addEventListener('pointermove', onPointer, passive)
  addEventListener('pointerup', onPointer, passive)
  area.addEventListener('scroll', () => look(false), passive)
  // Observers run after the layout and before the page is painted.
  const sizes = new ResizeObserver(() => look(true))
  sizes.observe(area)
  sizes.observe(content)
  look(true)

  return {
    /** Scrolls to the end and follows it. */
    follow,

    show,

    /** Scrolls by a number of view heights; negative values scroll up. */
    scroll (views: number) {
      if (views < 0) leave()
      area.scrollTop += views * area.clientHeight
    },

    end () {
      ended.abort()
      sizes.disconnect()
    }
  }
}
