/** Bytes of JSON that one text of an answer may have. The whole answer then stays below the limit for model output. */
export const FITTING_BYTES = 48 * 1024

export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/**
 * Returns the end of the part of a text that begins at `from` and has at most `chars` characters and FITTING_BYTES bytes. The part ends
 * with a line where that costs little, and never within a surrogate pair.
 */
export function fittingEnd (text: string, from: number, chars: number): number {
  let end = Math.min(from + chars, text.length)
  for (let bytes = jsonBytes(text.slice(from, end)); bytes > FITTING_BYTES; bytes = jsonBytes(text.slice(from, end))) {
    end = from + Math.max(1, Math.floor((end - from) * Math.min(FITTING_BYTES / bytes, 0.99)))
  }
  if (end >= text.length) return end
  const line = text.lastIndexOf('\n', end - 1) + 1
  if (line > from + (end - from) * 0.8) return line
  const unit = text.charCodeAt(end - 1)
  return unit >= 0xd800 && unit <= 0xdbff && end - 1 > from ? end - 1 : end
}
