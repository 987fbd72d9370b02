/** Formats a time, in milliseconds since the Unix epoch, in the time zone of this machine: "Mon Nov 30 2026 at 09:00". */
export function localTime (at: number): string {
  const date = new Date(at)
  return `${date.toDateString()} at ${date.toTimeString().slice(0, 5)}`
}
