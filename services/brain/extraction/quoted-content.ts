/** Stands for each character that is not the user's own. Where a message has it itself, it is hidden as well. */
export const HIDDEN = '\uE000'

/** What may belong to somebody else: code, quotations, what a terminal shows, quoted lines, markup, data, what stands below a rule. */
const FOREIGN = [
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

/** A message with straight apostrophes, and hidden what may belong to somebody else. */
export function hideQuotedContent (message: string): string {
  let text = message.replaceAll('\u2019', "'")
  for (const pattern of FOREIGN) text = text.replace(pattern, (found) => HIDDEN.repeat(found.length))
  return text
}
