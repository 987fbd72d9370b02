import { useEffect, useRef, type MutableRefObject, type RefObject } from 'react'
import { useManyCalls } from '../../parts/waiting/many-calls.tsx'

const STEPS: Record<string, number> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }

/**
 * The kinds of items: those that wait for a decision, and cards of the desk. They are names of data attributes of the items and ids of the
 * headings.
 */
const KINDS = ['waiting', 'desk'] as const
type Kind = typeof KINDS[number]

const itemsIn = (list: HTMLElement | null, ...kinds: Kind[]) =>
  [...list?.querySelectorAll<HTMLElement>(kinds.map((kind) => `[data-${kind}]`).join()) ?? []]
const isTyping = (element: Element | null) => element?.closest('input, textarea, select') !== null && element !== null

/** The buttons of a card that keys press, by their `data-does`. */
const DOES: Record<string, string> = { y: 'keep', u: 'undo', a: 'allow', Enter: 'open' }

/** How long an item must have had the focus before a key decides it, in milliseconds, unless a key of the user moved the focus there. */
const STEADY_MS = 300

/** Returns true if a key is meant for the focused item: the focus has not just moved there by itself. */
const isSteady = (movedAt: MutableRefObject<number>) => performance.now() - movedAt.current >= STEADY_MS

/**
 * The keys of the inbox. j and k move the focus from anywhere on the page unless the user types; the arrow keys move it from an item. On a
 * call, y and n decide, u takes back decisions that are not sent yet, and Enter opens the chat or task. On a card, y keeps it, u undoes, a
 * allows, and Enter opens. When the focused item disappears, the focus moves to the next item, or to the heading of the section after the
 * last item. A key does not decide that item at once.
 */
export function useItemKeys (list: RefObject<HTMLElement | null>) {
  const focused = useRef<Focused>()
  const movedAt = useRef(-Infinity)
  const calls = useManyCalls()
  const many = useRef(calls)
  useEffect(() => { many.current = calls }, [calls])

  useEffect(() => {
    function onFocus ({ target }: FocusEvent) {
      const kind = KINDS.find((each) => (target as Element).closest(`[data-${each}]`) !== null)
      const at = kind === undefined ? -1 : itemsIn(list.current, kind).findIndex((item) => item.contains(target as Node))
      focused.current = kind === undefined || at === -1 ? undefined : { at, kind }
    }
    /** Decides the focused item. After a denial, the focus moves to the field for the reason if there is one, else to the next item. */
    function decide (item: HTMLElement, verdict: 'allow' | 'deny', next: () => void) {
      if (item.dataset.open === undefined) return
      const isMeant = isSteady(movedAt)
      if (isMeant) many.current?.stage(item.dataset.waiting!, verdict)
      const reason = verdict === 'deny' ? item.querySelector<HTMLElement>('.reason') : null
      // Also after a key that came too early: the next keys may be the text of a reason.
      if (reason !== null) reason.focus()
      else if (isMeant) next()
    }
    /** Presses a button of a card, if the card has it. */
    function press (card: HTMLElement, does: string) {
      if (isSteady(movedAt)) card.querySelector<HTMLElement>(`[data-does=${does}]`)?.click()
    }
    function onKeyDown (event: KeyboardEvent) {
      const { key, repeat, ctrlKey, metaKey, altKey } = event
      const { activeElement } = document
      if (key === 'Escape' && activeElement?.matches('.reason')) return activeElement.closest<HTMLElement>('[data-waiting]')?.focus()
      if (ctrlKey || metaKey || altKey || isTyping(activeElement) || document.querySelector('[role=dialog]') !== null) return
      const items = itemsIn(list.current, ...KINDS)
      const at = items.findIndex((item) => item.contains(activeElement))
      const item = items[at]
      const last = items.length - 1
      // Keys reach the waiting items first, although they are below the cards.
      const first = Math.max(items.findIndex(({ dataset }) => dataset.waiting !== undefined), 0)
      const go = (step: number) => items[at === -1 ? (step === 1 ? first : last) : Math.min(Math.max(at + step, 0), last)].focus()
      const step = STEPS[key]
      if (step !== undefined) {
        if (items.length === 0 || (key.startsWith('Arrow') && item !== activeElement)) return
        event.preventDefault()
        go(step)
        movedAt.current = -Infinity
      } else if (item?.dataset.desk !== undefined && DOES[key] !== undefined && (key !== 'Enter' || item === activeElement)) {
        event.preventDefault()
        if (!repeat) press(item, DOES[key])
      } else if (key === 'u') many.current?.takeBack()
      else if (item !== undefined && !repeat && (key === 'y' || key === 'n')) {
        event.preventDefault()
        decide(item, key === 'y' ? 'allow' : 'deny', () => go(1))
      } else if (key === 'Enter' && item !== undefined && item === activeElement) {
        item.querySelector<HTMLElement>('.waiting-head a')?.click()
      }
    }
    document.addEventListener('focusin', onFocus)
    document.addEventListener('keydown', onKeyDown)
    return () => {
      document.removeEventListener('focusin', onFocus)
      document.removeEventListener('keydown', onKeyDown)
    }
  }, [list])
  useNextItem(list, focused, movedAt)
}

/** The item that was focused last, by its position among the items of its kind. */
interface Focused {
  at: number
  kind: Kind
}

/** Moves the focus from an item that disappears to the next one, and notes the time. Otherwise the browser moves it to the body. */
function useNextItem (
  list: RefObject<HTMLElement | null>,
  focused: MutableRefObject<Focused | undefined>,
  movedAt: MutableRefObject<number>
) {
  useEffect(() => {
    const watch = new MutationObserver(() => {
      if (focused.current === undefined || document.activeElement !== document.body) return
      const { at, kind } = focused.current
      const items = itemsIn(list.current, kind)
      const next = items[Math.min(at, items.length - 1)] ?? document.getElementById(kind)
      movedAt.current = performance.now()
      next?.focus({ preventScroll: true })
      next?.scrollIntoView({ block: 'nearest' })
    })
    watch.observe(list.current!, { childList: true, subtree: true })
    return () => watch.disconnect()
  }, [list, focused, movedAt])
}
