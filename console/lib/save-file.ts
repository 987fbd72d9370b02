/** How long the address of a file is kept for the browser that saves it, ms. */
const KEPT_MS = 60_000

/** Has the browser save what the page holds as a file. */
export function saveFile (content: Blob, name: string): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS)
}
