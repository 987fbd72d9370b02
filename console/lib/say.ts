import texts from '../texts/en.json'

/** The keys of the console's texts, such as `inbox.title`. */
export type TextKey = Leaves<typeof texts>
type Plural = { one: string, other: string }
type Leaves<T, Prefix extends string = ''> = {
  [K in keyof T & string]: T[K] extends string | Plural ? `${Prefix}${K}` : Leaves<T[K], `${Prefix}${K}.`>
}[keyof T & string]

/** The plural rules of the texts, which are English. Dates and numbers follow the browser's language. */
const plurals = new Intl.PluralRules('en')
export const numbers = new Intl.NumberFormat()
export const dollars = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD', maximumFractionDigits: 4 })
const roundDollars = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD' })

/** Returns an amount of US dollars, with more digits for small amounts. */
export const sayDollars = (usd: number): string => (usd >= 1 ? roundDollars : dollars).format(usd)

/** Returns the text of a key with its {placeholders} filled in. If the text has a singular and a plural form, `count` selects the form. */
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

/** Returns true if the console has a text for a key that was built from a value of the service. */
export function hasText (key: string): key is TextKey {
  let text: unknown = texts
  for (const part of key.split('.')) {
    if (typeof text !== 'object' || text === null || !Object.hasOwn(text, part)) return false
    text = (text as Record<string, unknown>)[part]
  }
  return typeof text === 'string'
}

/** Returns the text for a value of the service, or the value itself if there is no text. */
export function sayValue (section: 'status', value: string): string {
  const key = `${section}.${value}`
  return hasText(key) ? say(key) : value
}
