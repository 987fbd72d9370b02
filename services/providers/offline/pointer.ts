import type { Clause, Command } from './clause.ts'

const CLICK = /^(?:(double|right|left|middle)[ -])?click (?:(?:at|on) )?\(?(\d+)[, ]+(\d+)\)?$/i
const SCROLL = /^scroll (up|down|left|right)(?: (?:by )?(\d+))?$/i
const KEYS =
  /^(?:press|hit) (?:the )?((?:(?:ctrl|control|shift|alt|option|cmd|command|meta|super|win) ?\+ ?)+\S{1,10}|enter|return|tab|esc(?:ape)?|space|backspace|delete|insert|up|down|left|right|home|end|page ?up|page ?down|f\d{1,2})(?: key)?$/i

/** Reads a clause that clicks, types, presses keys or scrolls. Coordinates are pixels from the top left corner. */
export function readPointer (clause: Clause): Command[] | undefined {
  if (clause.take('type the? text? :?') && clause.next?.kind === 'quote') return [{ toolName: 'type', input: { text: clause.takeToken()!.text } }]
  clause.at = 0
  const text = clause.rest()
  const [, how, x, y] = CLICK.exec(text) ?? []
  if (x !== undefined) {
    const button = how?.toLowerCase()
    return [{ toolName: 'click', input: { x: Number(x), y: Number(y), ...button && (button === 'double' ? { double: true } : { button }) } }]
  }
  const [, direction, amount] = SCROLL.exec(text) ?? []
  if (direction !== undefined) return [{ toolName: 'scroll', input: { direction: direction.toLowerCase(), ...amount && { amount: Number(amount) } } }]
  const keys = KEYS.exec(text)?.[1]
  return keys === undefined ? undefined : [{ toolName: 'type', input: { keys: keys.toLowerCase().replaceAll(' ', '') } }]
}
