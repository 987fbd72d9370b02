import * as ai from 'ai'
import * as ai5 from 'ai5'
import * as ai6 from 'ai6'
import * as ai60 from 'ai60'
import * as ai70 from 'ai70'

/** One release of the AI SDK, seen with the types of the newest. */
export type Release = typeof ai

export interface Version {
  name: string
  release: Release
  /** Whether it knows approvals; 5.x does not. */
  approvals: boolean
  /** Whether it reads a resumed stream onto its own copy of the message, so that it shows what both hold twice (docs/limits.md). */
  resumesOntoCopy: boolean
}

const version = (name: string, release: unknown, { approvals = true, resumesOntoCopy = false } = {}): Version => ({
  name,
  release: release as Release,
  approvals,
  resumesOntoCopy
})

/** The releases that a shell's chat may be built with: the newest of each major, and early ones, which are strict. */
export const versions = [
  version('5.0.277', ai5, { approvals: false }),
  version('6.0.60', ai60, { resumesOntoCopy: true }),
  version('6.0.326', ai6),
  version('7.0.0', ai70, { resumesOntoCopy: true }),
  version('7.0.173', ai)
]
