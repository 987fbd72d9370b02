/** A folder with its identity, see `WorkFolder`. */
interface BoxFolder {
  path: string
  dev: string
  ino: string
}

/**
 * Where a command runs: in a box without a network; in a box whose network leads to these hosts alone, and whose ports can be reached at
 * 127.0.0.1; outside with all that its user may do; or not at all. `folder` is the working folder, the only one that a command in a box can
 * write to.
 */
export type Boundary =
  & ({ is: 'confined', folder: BoxFolder }
    | { is: 'networked', folder: BoxFolder, hosts: string[], ports?: number[] }
    | { is: 'outside', why: string }
    | { is: 'refused', why: string })
  & {
    /** The folder of a repository that the working folder belongs to, and whose git directory outside of it can be written to. */
    repository?: string
    /** Its git directory. */
    gitDirectory?: string
    /** What of it could be undone, for the user. */
    undo?: string
  }

/** Which commands run in a box: all that can, unless their call asks to run outside; all, or they do not run; none. */
export type SandboxMode = 'auto' | 'required' | 'off'
