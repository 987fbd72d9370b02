/** The part of the DOM that is used here; linkedom implements it. */
export interface Element {
  nodeName: string
  textContent: string | null
  innerHTML: string
  children: Iterable<Element>
  classList: { contains(name: string): boolean }
  getAttribute(name: string): string | null
  setAttribute(name: string, value: string): void
  removeAttribute(name: string): void
  remove(): void
  cloneNode(deep: boolean): Element
  closest(selector: string): Element | null
  querySelector(selector: string): Element | null
  querySelectorAll(selector: string): Iterable<Element>
}

export interface Document extends Element {
  body: Element | null
  documentElement: Element
}
