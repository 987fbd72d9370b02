import { sayCovers } from '../lib/say-covers.ts'
import { ServiceText } from './service-text.tsx'
import { VisibleText } from './visible-text.tsx'

/** The coverage of an approval or a grant, in everyday words. */
export function Covers ({ text, limit = Infinity }: { text: string, limit?: number }) {
  const said = sayCovers(text)
  return said === undefined ? <ServiceText text={text} limit={limit} /> : <VisibleText text={said} limit={limit} />
}
