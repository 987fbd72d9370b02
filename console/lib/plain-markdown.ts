/** Returns the words of Markdown for a line of a list, without its signs for emphasis, code, headings, links and footnotes. */
export function plainMarkdown (text: string): string {
  return text
    .replace(/^\s{0,3}(?:#{1,6}|>|[-*+])\s+/gm, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\[\^[^\]\s]+\](?!:)/g, '')
    .replace(/(\*\*|__|~~|`+)(?=\S)(.+?)(?<=\S)\1/g, '$2')
}

/** Returns a piece of Markdown without the signs for code, bold text and headings, of which the other one may lie in the next piece. */
export const withoutMarks = (text: string): string => text.replace(/`+|\*\*|~~|^#{1,6}\s+/gm, '')
