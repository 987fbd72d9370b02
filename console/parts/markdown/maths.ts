/** Marks of code that is a formula: private-use characters, which do not occur in texts. */
const INLINE = '\uE000'
const DISPLAY = '\uE001'
const LONGEST = 2_000

/**
 * Matches code, in which no formula is looked for, or a formula. A formula stands between $$, \[ and \], \( and \), or single $ by pandoc's
 * rules: no space inside the signs, and no digit after the last one, so that "$5 and $10" are prices.
 */
const FORMULA = new RegExp([
  '(?<code>(?<!`)(?<ticks>`+)(?!`)[^]*?(?<!`)\\k<ticks>(?!`))',
  '\\$\\$(?<dollars>[^$`]+?)\\$\\$',
  '\\\\\\[(?<brackets>[^`]+?)\\\\\\]',
  '\\\\\\((?<parens>[^`]+?)\\\\\\)',
  '(?<![\\\\$\\w])\\$(?<single>(?![\\s$])(?:\\\\[^\\n]|[^$`\\\\\\n])*?(?<![\\s\\\\]))\\$(?![\\d$])'
].join('|'), 'g')

/**
 * Turns the formulas of a Markdown text into marked code, so that the Markdown parser does not change them. `formulaOf` recognizes the
 * marks.
 */
export function markFormulas (text: string): string {
  if (!/\$|\\[([]/.test(text)) return text
  return text.replace(FORMULA, (whole, ...rest) => {
    const { code, dollars, brackets, parens, single } = rest.at(-1) as Record<string, string | undefined>
    const tex = dollars ?? brackets ?? parens ?? single
    if (code !== undefined || tex === undefined || tex.trim() === '' || tex.length > LONGEST || /\n\s*\n/.test(tex)) return whole
    const isDisplay = dollars !== undefined || brackets !== undefined
    return `\`${isDisplay ? DISPLAY : INLINE}${tex.replace(/\s*\n\s*/g, ' ').trim()}\``
  })
}

/** Returns the formula in marked code; undefined for other code. */
export function formulaOf (code: string): { tex: string, isDisplay: boolean } | undefined {
  const isDisplay = code.startsWith(DISPLAY)
  return isDisplay || code.startsWith(INLINE) ? { tex: code.slice(1), isDisplay } : undefined
}
