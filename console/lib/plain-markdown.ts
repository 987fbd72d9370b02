/** The line at which code begins or ends, and a block of it, to its end or that of the text. */
const FENCE = /^ {0,3}(?:`{3,}|~{3,}).*$/gm
const CODE = /^ {0,3}(`{3,}|~{3,})[^]*?(?:^ {0,3}\1.*$|(?![^]))/gm

/**
 * Returns the words of Markdown for a line of a list, without its signs for emphasis, code, headings, links, ticks and footnotes, and
 * without code beside words.
 */
export function plainMarkdown (text: string): string {
  const words = text.replace(CODE, '')
  return (words.trim() === '' ? text.replace(FENCE, '') : words)
    .replace(/^\s{0,3}(?:#{1,6}|>|[-*+])\s+(?:\[[ xX]\]\s+)?/gm, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\[\^[^\]\s]+\](?!:)/g, '')
    .replace(/(\*\*|__|~~|`+)(?=\S)(.+?)(?<=\S)\1/g, '$2')
}

/** Returns a piece of Markdown without the signs for code, bold text and headings, of which the other one may lie in the next piece. */
export const withoutMarks = (text: string): string => text.replace(/`+|\*\*|~~|^#{1,6}\s+/gm, '')
