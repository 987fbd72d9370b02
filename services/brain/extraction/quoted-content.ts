/** Replaces each character of quoted content. The character itself counts as quoted content in a message, too. */
export const HIDDEN = '\uE000'

/**
 * Patterns of quoted content: code, quotations, terminal output, quoted lines, markup, data, text below a horizontal rule,
 * URLs. A straight quotation mark within a word, as in Hebrew abbreviations and after numbers, begins no quotation.
 */
const QUOTED = [
  /(```|~~~)[^]*?(?:\1|$)/g,
  /`[^`]*`/g,
  /^[^\S\n]*(?:\$|>>>|[\w-]+@[\w-]+[:~])(?=\s|\S*[$#]\s)[^]*/gm,
  /^[^\S\n]*(?:[>|{[<#]|&gt;|\/\/|\d{4}-\d\d-\d\d).*$/gm,
  /^(?:\t| {4,}).*$/gm,
  /^[^\S\n]*(?:-{3,}|_{3,}|={3,}|\*{3,})[^]*/gm,
  /<(\w+)[^>]*>[^]*?(?:<\/\1>|$)/g,
  /(?<![\p{L}\p{N}])"[^"]*(?:"|$)/gu,
  /\uFF02[^\uFF02]*(?:\uFF02|$)/g,
  /[\u201C\u201D\u201E\u201F][^\u201C\u201D\u201E\u201F]*(?:[\u201C\u201D\u201F]|$)/g,
  /[\u00AB\u2039][^\u00BB\u203A]*(?:[\u00BB\u203A]|$)/g,
  /[\u00BB][^\u00AB]*\u00AB/g,
  /[\u300C\u300E\uFF62][^\u300D\u300F\uFF63]*(?:[\u300D\u300F\uFF63]|$)/g,
  /[\u275B\u275D\u300A\u301D][^\u275C\u275E\u300B\u301E\u301F]*(?:[\u275C\u275E\u300B\u301E\u301F]|$)/g,
  /\u201A[^\u2018'\n]*[\u2018']/g,
  /\u2018[^\u2018]*?'(?!\p{L})/gu,
  /(?<![\p{L}\p{N}])'[^'\n]{1,500}(?:'\p{L}[^'\n]{0,500}){0,20}'(?!\p{L})/gu,
  /(?:https?:\/\/|www\.)\S+/g
]

/** Signs of a message that may hold pasted text: URLs, code, and markup such as headings, tables, quoted lines and lists. */
const MARKUP = [
  /https?:\/\/|\bwww\.\w/,
  /```|~~~|`[^`\n]+`/,
  /^[^\S\n]*(?:#{1,6}\s|>|&gt;|\||[{[<])/m,
  /^(?:\t| {4,})\S/m,
  /^[^\S\n]*(?:-{3,}|_{3,}|={3,}|\*{3,})[^\S\n]*$/m,
  /\*\*[^*\n]+\*\*|\b__[^_\n]+__\b|\[[^\]\n]+\]\([^)\n]+\)|<\/?[a-z][^>\n]*>/i,
  /(?:^[^\S\n]*(?:[-*+\u2022\u2013\u2014]|\d+[.)])\s.*\n?){2}/m
]

/** A line that introduces text below it, and the text. */
const INTRODUCED = /[:\uFF1A][^\S\n]*\n[^]*/
/** A line of a transcript: a name, a colon, words. */
const SPEAKER = /^[^\S\n]*[^\s:\uFF1A][^:\uFF1A\n]{0,30}[:\uFF1A](?!\/\/).+$/gm

/** A message in the form in which its words are looked up. */
export interface ReadableMessage {
  /** The message with composed letters and straight apostrophes. */
  text: string
  /** The same text with each character of quoted content replaced by HIDDEN. */
  own: string
  /** Offset from which the text may be material to work on, because a line introduces it. */
  materialFrom: number
  /** Whether somebody may have pasted it: it is long, or has markup, URLs or code, or looks like a transcript. */
  isMixed: boolean
}

/** Characters beyond which a message may hold pasted text. */
const LONG = 600

/** Prepares a message. The lengths of `text` and `own` are equal. */
export function readable (message: string): ReadableMessage {
  const text = message.toWellFormed().normalize('NFC').replaceAll('\u2019', "'")
  let own = text
  for (const pattern of QUOTED) own = own.replace(pattern, (found) => HIDDEN.repeat(found.length))
  return {
    text: message.toWellFormed().normalize('NFC'),
    own,
    materialFrom: INTRODUCED.exec(text)?.index ?? Infinity,
    isMixed: [...text].length > LONG || MARKUP.some((sign) => sign.test(text)) || (text.match(SPEAKER)?.length ?? 0) > 1
  }
}
