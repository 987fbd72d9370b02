/** Marks code that is a formula: characters that no text has. */
const INLINE = '\uE000'
const DISPLAY = '\uE001'
const LONGEST = 2_000

/**
 * Code, which holds no formula, or a formula: between $$, \[ and \], \( and \), or between single $ as pandoc reads them: no blank
 * within the signs, and no digit after them, so that "$5 and $10" are prices.
 */
const FORMULA = new RegExp([
  '(?<code>(?<!`)(?<ticks>`+)(?!`)[^]*?(?<!`)\\k<ticks>(?!`))',
  '\\$\\$(?<dollars>[^$`]+?)\\$\\$',
  '\\\\\\[(?<brackets>[^`]+?)\\\\\\]',
  '\\\\\\((?<parens>[^`]+?)\\\\\\)',
  '(?<![\\\\$\\w])\\$(?<single>(?![\\s$])(?:\\\\[^\\n]|[^$`\\\\\\n])*?(?<![\\s\\\\]))\\$(?![\\d$])'
].join('|'), 'g')

/** Puts the formulas of a Markdown text into code that `formulaOf` knows again, so that Markdown leaves what they hold as it is. */
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

/** Returns the formula that code holds, if it is one. */
export function formulaOf (code: string): { tex: string, isDisplay: boolean } | undefined {
  const isDisplay = code.startsWith(DISPLAY)
  return isDisplay || code.startsWith(INLINE) ? { tex: code.slice(1), isDisplay } : undefined
}
