/** Replaces each character of quoted content. The character itself counts as quoted content in a message, too. */
export const HIDDEN = '\uE000'

/** Patterns of quoted content: code, quotations, terminal output, quoted lines, markup, data, text below a horizontal rule, URLs. */
const QUOTED = [
  /(```|~~~)[^]*?(?:\1|$)/g,
  /`[^`]*`/g,
  /^[^\S\n]*(?:\$|>>>|[\w-]+@[\w-]+[:~])(?=\s|\S*[$#]\s)[^]*/gm,
  /^[^\S\n]*(?:[>|{[<#]|\/\/|\d{4}-\d\d-\d\d).*$/gm,
  /^(?:\t| {4,}).*$/gm,
  /^[^\S\n]*(?:-{3,}|_{3,}|={3,}|\*{3,})[^]*/gm,
  /<(\w+)[^>]*>[^]*?(?:<\/\1>|$)/g,
  /["\u201C\u201D\u201E][^"\u201C\u201D\u201E]*(?:["\u201C\u201D\u201E]|$)/g,
  /[\u00AB\u2039][^\u00BB\u203A]*(?:[\u00BB\u203A]|$)/g,
  /[\u00BB][^\u00AB]*\u00AB/g,
  /\u2018[^\u2018]*?\u2019(?![\p{L}])/gu,
  /(?<![\p{L}\p{N}])'[^'\n]+(?:'[\p{L}][^'\n]*)*'(?![\p{L}])/gu,
  /https?:\/\/\S+/g
]

/** Straightens apostrophes and hides quoted content. The length of the message stays the same. */
export function hideQuotedContent (message: string): string {
  let text = message.replaceAll('\u2019', "'")
  for (const pattern of QUOTED) text = text.replace(pattern, (found) => HIDDEN.repeat(found.length))
  return text
}
