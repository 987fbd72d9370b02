import texts from '../texts/en.json'

/** The keys of all texts, such as `inbox.title`. */
export type TextKey = Leaves<typeof texts>
type Plural = { one: string, other: string }
type Leaves<T, Prefix extends string = ''> = {
  [K in keyof T & string]: T[K] extends string | Plural ? `${Prefix}${K}` : Leaves<T[K], `${Prefix}${K}.`>
}[keyof T & string]

/** The language of the texts; dates and numbers are written in the browser's. */
const plurals = new Intl.PluralRules('en')
export const numbers = new Intl.NumberFormat()
export const dollars = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD', maximumFractionDigits: 4 })
const roundDollars = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD' })

/** Returns a sum of money with as many digits as tell something. */
export const sayDollars = (usd: number): string => (usd >= 1 ? roundDollars : dollars).format(usd)

/**
 * Returns the text of a key with its {placeholders} filled in. Where the text has forms for one and for several, `count` selects
 * the form.
 */
export function say (key: TextKey, values: Record<string, string | number> = {}): string {
  let text: unknown = texts
  for (const part of key.split('.')) text = (text as Record<string, unknown>)[part]
  if (typeof text !== 'string') {
    const forms = text as Plural
    text = plurals.select(Number(values.count)) === 'one' ? forms.one : forms.other
  }
  return (text as string).replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name] ?? ''
    return typeof value === 'number' ? numbers.format(value) : value
  })
}

/** Whether there is a text of this key, which is made from a value of the service. */
export function hasText (key: string): key is TextKey {
  let text: unknown = texts
  for (const part of key.split('.')) {
    if (typeof text !== 'object' || text === null || !Object.hasOwn(text, part)) return false
    text = (text as Record<string, unknown>)[part]
  }
  return typeof text === 'string'
}

/** Returns the text of a key that is made from a value of the service, or the value itself when there is no text for it. */
export function sayValue (section: 'status', value: string): string {
  const key = `${section}.${value}`
  return hasText(key) ? say(key) : value
}
