/** A page as it came. */
export interface HtmlPage {
  bytes: Uint8Array
  /** What its header says; the page itself may say more. */
  charset?: string
  /** Where it is from: its links are relative to this. */
  url: string
}

/** A page as it is read. */
export interface ReadablePage {
  title?: string
  content: string
}
