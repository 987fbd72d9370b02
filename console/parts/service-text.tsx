import { VisibleText } from './visible-text.tsx'

/**
 * A sentence of the service, which speaks English whatever the language of the console is: the language is told to who hears the page, and
 * to browsers that translate. What models, tools and people say is `VisibleText`.
 */
export function ServiceText ({ text, limit = Infinity }: { text: string, limit?: number }) {
  return <span lang='en'><VisibleText text={text} limit={limit} /></span>
}
