import { visibleText } from '../lib/visible-characters.ts'

type Child = Node | string | undefined | false
type Properties = Partial<Record<'className' | 'type' | 'id' | 'value' | 'autocomplete' | 'name', string>> & {
  onclick?: () => void
  maxLength?: number
  required?: boolean
}

/** Creates an element. In its texts, characters that would hide or reorder other text are made visible. */
export function element<K extends keyof HTMLElementTagNameMap> (
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(tag), properties)
  made.append(...children.filter((child) => child !== undefined && child !== false).map((child) =>
    typeof child === 'string' ? visibleText(child) : child))
  return made
}

export const button = (label: string, onclick: () => void, className = '') =>
  element('button', { type: 'button', className, onclick }, label)
