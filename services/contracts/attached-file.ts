/** What stands before the digest in the address of an attachment, which file parts of messages name. */
export const ATTACHMENT = 'attachment:'

const ADDRESS = /^attachment:([0-9a-f]{64})$/

/** Returns the digest in the address of an attachment; undefined for any other address. */
export const digestIn = (address: unknown): string | undefined =>
  typeof address === 'string' ? ADDRESS.exec(address)?.[1] : address instanceof URL ? ADDRESS.exec(address.href)?.[1] : undefined

/** A file of a message: a stored attachment, or bytes that stand in the message itself. */
export type NamedFile = { mediaType: string, name?: string } & ({ digest: string } | { bytes: Uint8Array })

/** Reads the files that messages name. */
export interface AttachedFiles {
  /** Returns the size of an attachment, bytes; undefined when it is not stored. */
  size(digest: string): Promise<number | undefined>
  /** Returns the content of an attachment; undefined when it is not stored, or damaged. */
  bytes(digest: string): Promise<Buffer | undefined>
  /**
   * Returns the text of a file, whole up to a limit. Throws FileUnreadable when it has none: damaged, with a password, too large
   * when unpacked, or gone.
   */
  text(file: NamedFile): Promise<string>
}
