/** Python's keywords, and names of pydantic's base class that a field must not hide. */
const TAKEN = new Set([
  'and', 'as', 'assert', 'async', 'await', 'break', 'class', 'continue', 'def', 'del', 'elif', 'else', 'except', 'finally', 'for', 'from',
  'global', 'if', 'import', 'in', 'is', 'lambda', 'nonlocal', 'not', 'or', 'pass', 'raise', 'return', 'try', 'while', 'with', 'yield',
  'construct', 'copy', 'dict', 'json', 'schema', 'validate'
])

/** toolCallId → tool_call_id, from → from_, _meta → meta_ */
export function snakeCase (name: string): string {
  const snake = name.replace(/^_/, '').replace(/([a-z0-9])([A-Z])/g, '$1_$2').replaceAll('-', '_').toLowerCase()
  return TAKEN.has(snake) || name.startsWith('_') ? `${snake}_` : snake
}

/** tool_call_id → toolCallId: the alias that the base class of the models derives from a field name. */
export const camelCase = (name: string) => name.replace(/_$/, '').replace(/_([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase())

/** toolCalls → ToolCalls */
export const pascalCase = (name: string) => camelCase(snakeCase(name)).replace(/^./, (letter) => letter.toUpperCase())

/** Returns a value as a Python literal. */
export const literal = (value: string | number | boolean | null) => {
  if (value === null) return 'None'
  return typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value)
}

const WIDTH = 100

/** Returns a docstring whose lines are at most 100 characters long. */
export function docstring (text: string, indent: string): string[] {
  const words = text.replaceAll('\\', '\\\\').replaceAll('"""', "'''").split(/\s+/).filter((word) => word !== '')
  const lines: string[] = []
  let line = `${indent}"""`
  for (const word of words) {
    const isFirst = line === indent || line.endsWith('"""')
    if (!isFirst && line.length + 1 + word.length > WIDTH) {
      lines.push(line)
      line = `${indent}${word}`
    } else line += isFirst ? word : ` ${word}`
  }
  // A quote directly before the closing quotes would be parsed as part of them.
  const end = line.endsWith('"') ? ' """' : '"""'
  return lines.length === 0 && line.length + end.length <= WIDTH ? [`${line}${end}`] : [...lines, line, `${indent}"""`]
}
