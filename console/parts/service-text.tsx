import { VisibleText } from './visible-text.tsx'

/**
 * A sentence of the service. The service writes English whatever the language of the console is, so the text is marked as English for
 * screen readers and translating browsers. For texts of models, tools and people, use `VisibleText`.
 */
export function ServiceText ({ text, limit = Infinity }: { text: string, limit?: number }) {
  return <span lang='en'><VisibleText text={text} limit={limit} /></span>
}
