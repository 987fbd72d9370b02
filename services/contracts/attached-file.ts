/** The prefix of the URL of an attachment; the digest of the attachment follows. File parts of messages have such URLs. */
export const ATTACHMENT = 'attachment:'

const ADDRESS = /^attachment:([0-9a-f]{32})$/

/** Returns the digest in the URL of an attachment; undefined for any other value. */
export const digestIn = (address: unknown): string | undefined =>
  typeof address === 'string' ? ADDRESS.exec(address)?.[1] : address instanceof URL ? ADDRESS.exec(address.href)?.[1] : undefined

/** A file of a message: a stored attachment, or bytes in the message itself. */
export type NamedFile = { mediaType: string, name?: string } & ({ digest: string } | { bytes: Uint8Array })

/** Reads the files that messages name. */
export interface AttachedFiles {
  /** Returns the size of an attachment in bytes; undefined if it is not stored. */
  size(digest: string): Promise<number | undefined>
  /** Returns the content of an attachment; undefined if it is not stored or damaged. */
  bytes(digest: string): Promise<Buffer | undefined>
  /**
   * Returns the text of a file, up to a limit. Throws FileUnreadable if the file is damaged, needs a password, is
   * too large when unpacked, or is deleted.
   */
  text(file: NamedFile): Promise<string>
}
