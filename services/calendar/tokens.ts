import { CLOCK, PARTS } from './clock-words.ts'
import { DATE, MONTH, WEEKDAYS } from './day-words.ts'
import { DURATION, NUMBER, RHYTHMS, UNIT } from './durations.ts'

/**
 * A token: one or more words of a text, with their kind and offsets. A word of the grammar is its own kind;
 * unknown words have the kind "x".
 */
export interface Token {
  kind: string
  text: string
  from: number
  to: number
}

const SHORT_DAY = 'mon|tues?|weds?|thu|thurs?|fri|sat|sun'
const ANY_DAY = `(?:${WEEKDAYS.join('|')})s?|${SHORT_DAY}`
/** Words that change the meaning of a time next to them. */
export const TURNS = ['between', 'from', 'through', 'until', 'till', 'except', 'excluding', 'but', 'or', 'starting', 'beginning', 'before',
  'after', 'since', 'by', 'not', 'unless', 'yesterday']
/** Words that are their own kind. SAME maps synonyms to these words. */
const WORDS = [...TURNS, ...`a all and at coming current during every for full half holidays hour in just later minute month next now of on
  once only other past per quarter the then this times to today tomorrow tonight top twice week year day`.split(/\s+/)]
const SAME: Record<string, string> = { each: 'every', an: 'a', till: 'until', through: 'to', thru: 'to', '-': 'to', alternate: 'other' }

/** The kinds of tokens that have several words or many forms, with their patterns. The first pattern that matches counts. */
const FORMS: Record<string, string> = {
  except: 'except|excluding|but not|but|other than|apart from|not on|never on',
  every: '(?:every|each)(?: single)?',
  date: DATE,
  clock: CLOCK,
  decimal: '\\d{1,2}\\.\\d\\d',
  colon: ':[0-5]\\d',
  daily: 'daily|everyday|nightly',
  rhythm: Object.keys(RHYTHMS).join('|'),
  duration: DURATION,
  weekset: '(?:week|work|working |business )days?|weekends?',
  weekdays: `(?:${WEEKDAYS.join('|')})s`,
  weekday: `${WEEKDAYS.join('|')}|${SHORT_DAY}`,
  parts: `(?:${PARTS.join('|')})s`,
  part: PARTS.join('|'),
  ordinal: 'first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|\\d{1,2}(?:st|nd|rd|th)',
  number: `24:00|(?!\\d{3})(?:${NUMBER})`,
  word: [...WORDS, ...Object.keys(SAME).filter((word) => word !== '-')].join('|'),
  monthname: MONTH,
  unit: UNIT,
  figure: '\\d+(?:[.:/-]\\d+)*'
}
/** Matches the end of a token, which is the end of a word. "mon-fri" is two words; any other word with a hyphen is one. */
const END = `(?![\\w']|[.:/]\\d|-(?!(?:${ANY_DAY})\\b)[a-z])`
const LEXER = new RegExp(
  `${Object.entries(FORMS).map(([kind, form]) => `(?<${kind}>(?:${form})${END})`).join('|')}|` +
    '(?<comma>,)|(?<word2>-)|(?<stop>[.;:!?]+(?=\\s|$)|[;!?])|(?<x>[^\\s,;!?]+)',
  'g'
)

/** Splits a lower-case text into tokens. */
export function tokensOf (text: string): Token[] {
  return [...text.matchAll(LEXER)].map(({ 0: words, index, groups = {} }) => {
    const [form] = Object.entries(groups).find(([, each]) => each !== undefined)!
    const kind = form === 'comma' ? ',' : form.startsWith('word') ? SAME[words] ?? words : form
    return { kind, text: words, from: index, to: index + words.length }
  })
}

/**
 * Normalises a text: lower case, single blanks, and one spelling for words with several. "M" can mean months or
 * minutes, so it is replaced by a character that means neither.
 */
export const tidy = (text: string): string => text.replace(/(?<![\w.])([\d.]+ ?)M\b/g, '$1\u00B7').toLowerCase()
  .replace(/(\d{4}-\d\d-\d\d)t(?=\d)/, '$1 ').replace(/[\u2018\u2019]/g, "'").replace(/ ?[\u2013\u2014] ?/g, '-')
  .replace(/\b([ap])\.m\b\.?/g, '$1m').replace(/[()]|,? please\b|\bplease,? |\b(?:exactly|sharp|precisely) (?=(?:at )?\d)/g, ' ')
  .replace(/(?<=\d(?:[ap]m)?) sharp\b|(?<=\d\d:?\d\d) (?:hrs|hours)\b/g, '').replace(/ ?@ ?/g, ' at ')
  .replace(/ & |(?<=day|\b(?:mon|tue|wed|thu|fri|sat)) ?[/+] ?(?=[a-z]{3})/g, ' and ').replace(/\beach and every\b/g, 'every')
  .replace(/(?<=(?:minute|hour|day|week|month|year)s?)(?:'s?)? time\b/g, '')
  .replace(/\bbi-weekly\b/g, 'biweekly').replace(/\b(?:tmrw|tmr|tmw)\b/g, 'tomorrow').replace(/\bhalf-hour\b/g, 'half hour')
  .replace(/:(?= |[a-z])|\s+/g, ' ').replace(/ {2,}/g, ' ').trim().replace(/[.!]+$/, '')
  .replace(/^(?:seven|7) days a week\b|\bevery day of the week\b/, 'daily').replace(/^once (?=every |each )/, '')
