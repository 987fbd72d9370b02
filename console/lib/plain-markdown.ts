/** The first or last line of a fenced code block; and a whole block, which ends at its closing fence or at the end of the text. */
const FENCE = /^ {0,3}(?:`{3,}|~{3,}).*$/gm
const CODE = /^ {0,3}(`{3,}|~{3,})[^]*?(?:^ {0,3}\1.*$|(?![^]))/gm

/**
 * Returns the words of a Markdown text for one line of a list. Removes the marks of emphasis, code, headings, links, checkboxes and
 * footnotes, and code blocks unless the text has no other words.
 */
export function plainMarkdown (text: string): string {
  const words = text.replace(CODE, '')
  return (words.trim() === '' ? text.replace(FENCE, '') : words)
    .replace(/^\s{0,3}(?:#{1,6}|>|[-*+])\s+(?:\[[ xX]\]\s+)?/gm, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\[\^[^\]\s]+\](?!:)/g, '')
    .replace(/(\*\*|__|~~|`+)(?=\S)(.+?)(?<=\S)\1/g, '$2')
}

/** Removes the marks of code, bold text and headings from a piece of Markdown. A piece can hold only one of two paired marks. */
export const withoutMarks = (text: string): string => text.replace(/`+|\*\*|~~|^#{1,6}\s+/gm, '')
