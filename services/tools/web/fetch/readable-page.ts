/** A page as it was received. */
export interface HtmlPage {
  bytes: Uint8Array
  /** The encoding from the header, if any; otherwise the page itself may declare one. */
  charset?: string
  /** The page's address: relative links are resolved against it. */
  url: string
}

/** A page as the tools return it. */
export interface ReadablePage {
  title?: string
  content: string
  /** The page is nearly empty as long as its scripts do not run. */
  needsScripts?: true
}
