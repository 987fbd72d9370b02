import type { Row } from './compare.ts'

const HEAD = ['what', 'bar', 'floor', 'service', 'ratio', '']

/** Returns the rows as a Markdown table. */
export function tableOf (rows: readonly Row[]): string {
  const lines = rows.map((row) => [
    row.what,
    row.bar === undefined ? '' : `${row.atLeast ? '≥' : '≤'} ${row.bar}${row.ratio === undefined ? ` ${row.unit}` : ' ×'}`,
    row.floor === undefined ? '' : `${shown(row.floor)} ${row.unit}`,
    `${shown(row.service)} ${row.unit}`,
    row.ratio === undefined ? '' : row.ratio.toFixed(2),
    row.bar === undefined ? '' : row.pass ? 'pass' : 'MISS'
  ])
  const widths = HEAD.map((title, column) => Math.max(title.length, ...lines.map((line) => line[column].length)))
  const print = (cells: string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`
  return [print(HEAD), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...lines.map(print)].join('\n')
}

const shown = (value: number) => value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)
