/** How long the object URL of a file is kept for the browser that saves the file, in milliseconds. */
const KEPT_MS = 60_000

/** Saves a file that the page holds, as a download of the browser. */
export function saveFile (content: Blob, name: string): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS)
}
