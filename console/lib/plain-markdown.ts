/** Returns the words of Markdown for a line of a list, without its signs for emphasis, code, headings and links. */
export function plainMarkdown (text: string): string {
  return text
    .replace(/^\s{0,3}(?:#{1,6}|>|[-*+])\s+/gm, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/(\*\*|__|~~|`+)(?=\S)(.+?)(?<=\S)\1/g, '$2')
}
